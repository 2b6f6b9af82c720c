"""Requests whose pages prefill ranks write into pages that decode set aside, and what becomes of both.

    ports            what each side asks of the rest of its process: messages out, pins, clock, events of a device
    links            messages out over sockets

    metadata_slots   the bytes that decode gets beside the pages, under the room and the epoch that they belong to
    decode_memory    pages and slots of one decode rank: free, reserved, quarantined
    decode_rooms     one room as decode has set it aside
    decode           rooms as decode sees them, from `reserve` to `close_room`

    destinations     decode ranks as prefill knows them, and the writes that reach them
    aux_staging      memory from which metadata is written
    jobs             what is handed to the worker, in one order
    chunks           one chunk on all ranks: what of it was submitted, and has landed
    prefill_rooms    one room as prefill knows it
    send_flights     what may still land, and who waits for the end of it
    heard_epochs     which epochs were heard of, or given up before
    room_book        rooms, failures, and what is to be told
    transmitting     jobs, flights and their endings
    overlap          layers that go while the forward that computes them still runs
    prefill          rooms as prefill sees them, from the first message to `forget`

One object plays all ranks of its side that live in this process. Knows pages, rooms and addresses. Does not know
tensors, nor which engine moves the bytes.
"""

import logging

logging.getLogger(__name__).addHandler(logging.NullHandler())
