"""Show findings and tables: text, JSON, annotations.

Knows forms of output. Knows no rule.
"""
