"""Character classes of Unicode 8.0; written by tools/wordpiece_characters.py, not to be edited."""

# Mn: what strip_accents removes after NFD.
MARKS = (
    "c-k#dJ!@1!6y=<I=i}{ryZe+RvaI`9G{S0#K4Zwn4N*}9v9htzCIpf~8!KxogMuKKK!_+dA!rqB1F;dY5mHzPR@w@|Um)HQX9niu"
    "o_pq=b07H!FX*0d8UStLMqZDXSPAqb^dze8-F%dtP-GCeDOp2*XjqL32@Uozf@;JVd%Osxk|L-m$kW|{nqr1xN<y^v3X3Q(gGF%y"
    "4b1<?JscDE@;|;+1Oe`Vp@_?%2XlXuU8FH=!I)i+$qcJ%i6lEzDYa=wk2XFyc^{-FJyyIzglOp*rsXB@P?Q<Gd^f25i;x%@eS@f5"
    "SG9(5+ZtpA`z8l6Z(%D%Mv>e!7n%s^PvIxbc|CAVv!eKOOr8Nt{dcPO`Sq8HZS;AI&n+K{4qpM?qqDJ-pOxB7AqKc+7L$c}at;@a"
    "pLAx@8AcqYW+--F13z3@mR|yX0vm9Tn_{|kAc}2ptAV-pyqvcxugj!Eyo7?YSuV?BMBFjXIL?t(a4Lw~H)E_r;33r8*5&P(VE2-I"
    "3$2Lt%6;5{TL|BxKHUO8pOzz$q0)88UVErB5iLwOwBH;LZ+Gk8_zOt+IA;"
)

# NUL, U+FFFD, Cc, Cf and Co but tab and line ends: what clean_text removes.
CONTROLS = "c-mv&WMX0zidW=iyu`&O#(02{(U9?<BI6%^Rw-6PRz|J~|Ct(${&O?_WMpP!+^@*^=sFY2c}<SCy9SJM2@U_5|NUoX0%8C@HWaS"
