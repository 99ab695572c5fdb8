"""The same blocks as the plain sort gives, faster.

A document becomes one integer, its key: the high bits are ordered like descending scores, the low
bits hold its label. Keys are copied into rows, one row per query, and sorting a row ranks it.
Where the high bits cannot distinguish two scores, the scores themselves decide.

Labels that are small integers are encoded as grades: the label plus one, in a byte; 0 is padding.
"""
