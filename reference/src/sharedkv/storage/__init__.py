"""The third tier: objects of full pages that outlive a process and are shared with others.

    keys        what a page is called: a chain of digests over the namespace and all tokens up to its end
    objects     what one object is: one part of one page behind a header that says whose it is, and a checksum
    backend     what holds objects under names; `files` and `mooncake` are two of them
    page_store  which pages are stored: every part whole, all of one lane
    saving      host pages to objects, each by the rank of its lane
    fetching    objects to host pages, under a quota, until the caller ends it

Knows pages, parts and lanes. Does not know tensors, the prefix tree or the layout of host memory: `ports` says what it
asks of them.
"""

import logging

logging.getLogger(__name__).addHandler(logging.NullHandler())
