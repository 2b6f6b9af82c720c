"""The calls of the table that speak of transfers: both sides, layers sent early, giving up, and the network."""

from __future__ import annotations

from sharedkv_conformance.contract.operation import Operation
from sharedkv_conformance.contract.overlap import OverlapContext
from sharedkv_conformance.contract.probe import ControlMessage, Flight, PoolBuffer
from sharedkv_conformance.contract.sending import DecodeStatistics, Reservation, SendReport
from sharedkv_conformance.contract.transfer import Block, Fingerprint, LayerBuffers, PageRange, RankPages

_PAGES = {"pages": tuple[int, ...]}
_ROOM = {"room": int, "epoch": int, "source": int}
_NUMBER = {"room": int}
_CHUNK = {**_NUMBER, **_PAGES, "first_position": int, "is_last": bool}

TRANSFER_OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="transfer.chunk",
        parameters={"sent_tokens": int, "end_tokens": int, "is_last": bool},
        result=PageRange,
        feature="transfer",
    ),
    Operation(
        name="transfer.deal",
        parameters={
            **_PAGES,
            "first_position": int,
            "destinations": tuple[int, ...],
            "is_last": bool,
        },
        result=tuple[RankPages, ...],
        feature="transfer",
    ),
    Operation(
        name="transfer.blocks",
        parameters={
            "sources": tuple[int, ...],
            "destinations": tuple[int, ...],
            "buffers": tuple[LayerBuffers, ...],
        },
        result=tuple[Block, ...],
        feature="transfer",
    ),
    Operation(name="transfer.fingerprint", parameters={}, result=Fingerprint, feature="transfer"),
    Operation(name="transfer.shake_hands", parameters={"peer": Fingerprint}, result=None, feature="transfer"),
    Operation(
        name="transfer.open_room",
        parameters={"room": int, "sources": tuple[int, ...], "parts": tuple[str, ...]},
        result=int,
        feature="transfer",
        produces={"": "epoch"},
    ),
    Operation(
        name="transfer.arrived",
        parameters={**_ROOM, "part": str, "chunk": int, "is_last": bool},
        result=None,
        feature="transfer",
        takes={"epoch": "epoch"},
    ),
    Operation(name="transfer.failed", parameters=_ROOM, result=None, feature="transfer", takes={"epoch": "epoch"}),
    Operation(name="transfer.status", parameters=_NUMBER, result=str, feature="transfer"),
    Operation(name="transfer.close_room", parameters=_NUMBER, result=None, feature="transfer"),
    Operation(
        name="transfer.reserve",
        parameters={**_NUMBER, "num_pages": int, "ranks": tuple[int, ...]},
        result=Reservation,
        feature="transfer.requests",
        produces={"epoch": "epoch", "places.slot": "slot:rank"},
    ),
    Operation(
        name="transfer.send",
        parameters={**_CHUNK, "state": tuple[int, ...], "aux": bytes},
        result=None,
        feature="transfer.requests",
        takes={"pages": "page", "state": "page"},
    ),
    Operation(name="transfer.send_status", parameters=_NUMBER, result=str, feature="transfer.requests"),
    Operation(name="transfer.forget", parameters=_NUMBER, result=None, feature="transfer.requests"),
    Operation(name="transfer.report", parameters=_NUMBER, result=SendReport, feature="transfer.requests"),
    Operation(name="transfer.commit", parameters=_NUMBER, result=tuple[bytes, ...], feature="transfer.requests"),
    Operation(
        name="transfer.decode_pools", parameters={}, result=tuple[DecodeStatistics, ...], feature="transfer.requests"
    ),
    Operation(name="overlap.register", parameters=_CHUNK, result=bool, feature="overlap", takes={"pages": "page"}),
    Operation(name="overlap.layer_end", parameters={"layer": int}, result=None, feature="overlap"),
    Operation(name="overlap.contexts", parameters={}, result=tuple[OverlapContext, ...], feature="overlap"),
    Operation(name="abort.decode", parameters=_NUMBER, result=None, feature="abort"),
    Operation(name="abort.prefill", parameters=_NUMBER, result=None, feature="abort"),
)

NETWORK_OPERATIONS: tuple[Operation, ...] = (
    Operation(name="probe.stall", parameters={"what": str}, result=None, feature="probe.network"),
    Operation(name="probe.resume", parameters={"what": str}, result=None, feature="probe.network"),
    Operation(
        name="probe.flights",
        parameters={},
        result=tuple[Flight, ...],
        feature="probe.network",
        produces={"flight": "flight"},
    ),
    Operation(
        name="probe.land",
        parameters={"flight": int},
        result=None,
        feature="probe.network",
        takes={"flight": "flight"},
    ),
    Operation(
        name="probe.fail",
        parameters={"flight": int, "pages": int, "is_definite": bool},
        result=None,
        feature="probe.network",
        takes={"flight": "flight"},
    ),
    Operation(
        name="probe.messages",
        parameters={},
        result=tuple[ControlMessage, ...],
        feature="probe.network",
        produces={"message": "message"},
    ),
    Operation(
        name="probe.deliver",
        parameters={"message": int},
        result=None,
        feature="probe.network",
        takes={"message": "message"},
    ),
    Operation(
        name="probe.garble",
        parameters={"message": int, "how": str},
        result=None,
        feature="probe.network",
        takes={"message": "message"},
    ),
    Operation(
        name="probe.scribble",
        parameters={"rank": int, "slot": int, "room": int, "epoch": int, "data": bytes},
        result=None,
        feature="probe.network",
        takes={"slot": "slot:rank", "epoch": "epoch"},
    ),
    Operation(
        name="probe.decode_pool",
        parameters={"rank": int, "layer": int},
        result=tuple[PoolBuffer, ...],
        feature="probe.decode_pool",
    ),
)
