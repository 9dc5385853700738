"""English words that say nothing about what a text is about."""

from __future__ import annotations

_WORDS = """
a about above after again against all also although am among an and another any are around as at be because been
before being below between both but by can cannot could did do does doing done down during each either else even ever
every few for from further get got had has have having he her here hers herself him himself his how however i if in
into is it its itself just less let like made make makes many may me might more most much must my myself neither no
nor not nothing now of off often on once one only or other others our ours out over own per rather said same shall she
should since so some still such than that the their theirs them themselves then there these they this those though
through thus to too two under until up upon us use used uses using very via was we were what when where whether which
while who whom whose why will with within without would yet you your yours
"""
STOP_WORDS = frozenset(_WORDS.split())
