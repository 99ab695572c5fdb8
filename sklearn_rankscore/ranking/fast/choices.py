"""The numbers that choose between ways to the same block, each with its reason.

`benchmarks/ablation.py` measures what each way gives.
"""

# up to this depth keys have 32 bits and are sorted in half the time, and the best grades are
# counted; beyond it too many scores would collide, and counting takes longer than a sort
SHALLOW = 32

# up to this width NumPy sorts integers of 64 bits without branches, and up to twice this width
# those of 32 bits; beyond it the smallest of many are found by a tournament
MEDIUM = 256

# wider rows than this many times the ranks that matter take part in a tournament
TOURNAMENT_RATIO = 16

# from this number of labels on, gains of bytes are looked up by comparisons, unless the table has
# more steps
COMPARED, FEW_STEPS = 2**10, 8

# with fewer short rows than this, a sorting network, of which each step costs a call, takes longer
NETWORK_ROWS = 2**11

# rows of which at most this share of the documents can be among the first ranks are ranked again by
# these alone
FEW = 0.5

# from this share of the short rows on, rows without ties are averaged as well, because to take rows
# out and put them back costs more
MANY_ROWS = 0.25

# the mean number of documents with equal scores from which on ties are the rule: in most queries,
# and in short ones, of which most have a tie then
MANY_TIES, MANY_TIES_IN_SHORT = 1.5, 1.04

# how many times as many documents must have equal keys of 32 bits as have equal scores for longer
# keys to cost less, and the share of a query that those at one rank must be if it is long
COLLIDING, CROWDED = 1.04, 1 / 9

# up to this width a key of 64 bits has room for a column beside a score of single precision; up to
# the second one beside most of a score of double precision
COLUMN_BESIDE_SINGLE, COLUMN_BESIDE_DOUBLE = 2**12, 2**16

# small buckets of similar width are joined up to these numbers of documents, in short and in other
# rows: a block costs hundreds of calls of NumPy, whatever its size
SMALL_SHORT_BUCKET, SMALL_BUCKET = 2**17, 2**18

# blocks of a shallow depth are larger: most of their memory is keys, and the calls after the sort
# are so short that threads would wait for one another at each
LARGE_BLOCK = 2**21

# number of documents whose keys are written at once: few enough to stay in cache from one operation
# to the next, and enough that threads, which wait for Python's lock between them, seldom wait
STEP = 2**17

# a smaller call has no arrays that glibc would return to the system, and takes no sample of ties;
# others read that of this number of queries, up to this width
SMALL_CALL, SAMPLED_QUERIES, SAMPLED_WIDTH = 2**14, 64, 2**8
