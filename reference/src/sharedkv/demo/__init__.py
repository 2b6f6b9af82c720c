"""A small prefill on several ranks that share a cache, compared with one rank that holds everything.

settings     what is asked for            model        real random weights, and what they make of tokens
scenario     prompts, pages, rounds       single       one rank, one pass, no cache
shared       the ranks, round by round    comparison   how far the two agree
story        what happened, as text or JSON
"""
