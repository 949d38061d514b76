"""General categories of Unicode 16.0, written by tools/unicode_table.py; not to be edited."""

VERSION = "16.0"

CATEGORIES = tuple(
    [
        "Cn",
        "Lu",
        "Ll",
        "Lt",
        "Lm",
        "Lo",
        "Mn",
        "Mc",
        "Me",
        "Nd",
        "Nl",
        "No",
        "Pc",
        "Pd",
        "Ps",
        "Pe",
        "Pi",
        "Pf",
        "Po",
        "Sm",
        "Sc",
        "Sk",
        "So",
        "Zs",
        "Zl",
        "Zp",
        "Cc",
        "Cf",
        "Co",
    ]
)

# Runs of (category index, length as a little-endian base-128 number), deflated, in base 85.
PACKED = (
    "c-q}rNvLH<8UFvO`s)mJr+3c1^<KZ*@Ad1~-7nqg?xfR0I%-TBCBcvo<HCf9IA9bUAXx~4Zkia(CWs<#A_!`59YLaT6~qBiA%X@M"
    "BEgLdC1j-mMg9K&oO}EAKx+m&=%VhaQ&s1$f1d98)+#rCiZS9bH{4<jxp7t9xYjq0*GE_x^Na@=4sR{qT3+9e?|2$AerKFnc!JeA"
    "X8P80aySh*GfvoB;p7|U)t0$%Yc0Eyv3m`Nd!75QZ@A^$FX#I7_zBB-x92YV&h0wCSa)L3Bw*1_@BV$=l)7Dz{56%+ViY|uI&8yb"
    "`*#Std1z)K3}&Msvm!w6FjnFti&MIyPjUgAg7z_m8MZL<q;DOeD|lA!fW4>;ULBsI&vq#lKIKll5gf=IrF7Sn=k86ijcYI<;T_e2"
    "Cb}c)-N<D(#cDi0<OqF;t{+UL%qd7{9Hn_w{|C>A(=j#hZH<?$z*5H<ykig-Sw7OhyTwBNUW~y-hbMNbT6~6bG$X=yIKi?R=j7zU"
    "n1pGB{r#~DINkUFd?HVs<QM{Dl_S=okZZ=ovL|}XfUP7FS(~v$z;q<Bk|Q{`Hs`oiu-qKE(0jP>u`B}KoMHxSoq2QEgN$_*kV;_U"
    "Ff!%^1`|AqVqsrnhEo{&PGteR5&g<XtO9d4btz_^V%K;Estd(0+PMo*-EsgDDP%`MVSpl!l>&F_4MhbU0Ugk&?qOAWAI5H2vcymz"
    "J3FU1;zp)1q+!@0CMje{181&G?QU3XT-!x46$betiZ!~W2;3A~rPCX30Z&KWnzOmCdl^trNPy@IZ*+G!#=<0@e2!D-3nXZJz^|iq"
    "6=Txj6@3BTfKQ4WFtQU0!!78fqTy6z)2#yfaS@dI5(;I(i$cFHFpHgJdRUkNw*e@3OU@sGOge4g1r?%L2k`}NUhpPW*)+1}bp!g>"
    "dig1~g-JT#Yo$dcR#L=`PI0DzoQR4=K>^wnq0ME(nt9NnC1-)VLDYF|rz?Yu^`JHki7GruV+;8CW~>=W26h?uB*-rEVrYh=15_%v"
    "4niA8;E$;Fi^K$I2Z?iu)1WB3MshG*j)HFiCm})Qk#YuDMu|2L(JQCGL*+`4VKhD$vEzSLEAO&{57MZEh(XRBReMDI{+TmHa=jUL"
    "^CSIp{}uMsCA_7dzf(=AsnQfopX8b%-w)7{+>qtZmYK=QD$Bakj3ak9zV@KJkOun2R7tD44hk!*I7nmI$=>FtbuSi0Y1Ab3Q<^7="
    "Sv)u%6Gjt}D}sLbAeBOt1Mo6uaD#v^+h#8!cTz3;$aESoeQzBR8UY;1t9O!3lW3A-(64pXkc6GQEvvD!O8782(_3pn-Ba-@0jE|?"
    "*V}b8h5C7{j7p9Zx=H0GH`;mWY$5jYH?LUaI##)AyizNh>I+PEz}CF@G5gY~1a%EMUc&Pq1XoJ4CEo~ch21L+AvVrc7IB1+67q?r"
    "q!J?HI8?l$DbVt0)}}f{;*N#e-4L3v9S+5F|Lbw~8jkA!f`(F!l`&8cl{S{|eTKRmwmZ@tUoHoHpjHrGD>I%UdtJVJ2M3{Z(s{`;"
    "L;Tpa54W?L=5SSwo1i)y@x<9LH{}}d;klr?t8}Lc1K0T0{AQE1Ivj9Qui^x<5Ll^ZFA15F?gvhFH-m2;lArFUaU7P=`qIY%jo|}1"
    "qhiU6+Q)0AtMAC5k^XS^)(!ZEF7p?RthBgRv+bbOr9#M@Cbj16T!(}e3aw;mT@I~5v{7K}!<x?7=1;g>E&@TGVym#(d$76L?#YMS"
    "nBPS?Cz_>O^SvqO@9B3H#?5V+AI9^QWgxlINSpasD>`fUU1`6a<nylm{8eFG_Ra0f*_Qo2>hg(p2C8Dd4%zG$qSeRwL|=ROOEUJb"
    "%;J%uzDf1m8(z<=wsddNcOJKa7Qp`^%IcfeeR2zFG(grBH7}|xkX~iPt<D-u@4fwY^GZ7+!^K-~F&B%dK`GwUL)Qd7H{xc9{J~#("
    "3bn^}UWc?Eq(OdxX+2N0{gO2~=lY7W&+c*{_(kbZR~oE_93;Ei2TRAZ<`eg8N<MP|AqJVi`;cmQ3&cmU_W@08QpmMz<sH)GZITh3"
    "ktl7Z5+*gyTbN&m=W|Y;JC)DLSD#Ys{#qg)p9K#OYm}2Gw46fLq2&Ng|C_?rgrn3DY9-8Tg`%aI+*xZe6ser8hH7@Tvev(u>K%5s"
    "$J~|nFW@e(9%Jdp)y{+qx0CBi=x$tml4ikoSOlDuB5KLRmgcN>X;j9XJjz99B~O&oO+ZQM<YY04noL<L85@bvCQVo^m6N?F1RRpT"
    "goF#Fw``z{@O>iZ`V`GKLoEUDJ(6@JoT{Z2z7;E8EH$?jtumZ6jqMUwn5ax}HfFyl0Oe#?bZJ3ksjC&zv?i+MPEwclV+K0)3na7%"
    "(*0Pv6?b&TA-GEAL&4oA2f8w_E6|E%;w(=+fc$zDneI*W*ktedlk$?5r=Or5SI_`KUF`n4WlP9qSz>nMQ?nJC$e)}#gFKOQ`1EE%"
    "C5ZZGFxARu(iB}U7mS@WJahy1?*dF?ClKp>gB(G9*hRaD|3hwdhqWI9%oVA}LC+kRy_WWIce=Y;YDnWaywyG=(iiyZw3wbEaBD+("
    "3d#|{1N>V(_gVQh019xW()N5AV{Js+@;QV8loshY99C7Ifv;OhE(7_Dlmu+LF&~E{9yO(c1jdn*_I$QdfGDRmRHasDxf4|on@Y1*"
    "ih|0t7P_7fyTfvCCrHM+)4jt~%4t<pMh(d*(YVm=B2)tJ4)0FYL;C}#A^GpAPG;y(NoxUxX1E@sqC1RcmGrT`p`ambRS`&~tio#-"
    ";82+=I?>ZCNhGI;B1AcXGM3IE<b~wKr3uoq8>DL?XtO9-vqcO04Qs%_E&-`%Fk~ZX17Rb1s1RZRtPdhi(iFh+W<W21tpg4%ZY)va"
    "7qH<$D(F7Bi_Y>X8oE<dq$md?Y`ZJOBxpS147-(~dbCVs>*#q-2sU!PA~m#b22|P8S)jL(YV9^54NNICLK!t_z(qSU!&Os_-@UP("
    "iDRG^(zNRO0m`(>+{1D0SE$i9P|QYMPd(RL_Gpg@*5HAnR)MAV4B!T=M}|8OL{&qDqE+AtK&h~U+kt@@E(lURV6_gE+u)6M=CrF}"
    "=B?dBtLt#%ZM({KwsO5zOElNzakCgE?kb%rs|^kAqA%r_{UZ_4m8g9ct(WV*&!YG3P}d!UN~x=}{#fXGWL;-a2dq~|2@!9gqV`tD"
    "dfN|L%i6xadD=8iMB{phUCpYB!Y1Tz!yEU_!hW+^6>aZr+h^sHF{;POO7kJLa&%d`#||lFj_J&l_R5^xa$g%RLZPamov>Rl=vkPC"
    "$;P_1^bl{kE$u+TrpmrMR`y(6E0hba>rHljn9kWlf(R0Hr+sl<M?h2(xRWrrHV3C_Ijjg`7Mjxf!fYYM%MDh`8(GlOAxxlXYI=rc"
    "e`D=Eh+3Ophx$gvf=ZzpsJ7bf&}K)>WUUN~ENY>5Efrt~0@S9Nu4>c3+R_F$_9wQiq33ps))f31XB{1AzxE7`W(^?QI3~2vRAi=V"
    "H}qcZnx<JUr*M!o1no~2^s)M3Qe2b#i0Kzo`7l5Y<>_)hvChR9PU~y?poBjS^z0egi~}_R-29WFJR3;;(;^<fo4SUO(yE@RmJ_ki"
    "hFXA0!3)>gc1%k14Decd+9OFl9Kcrv$12*i3iJP{+)XB&;w*>?C@at55IhP<(ClC&uiOafyim~*7{ed$2+;Tdut6F1Ek|RJxzRUI"
    "M=;4!p78WoBcH^rhzFwn4>>_Lm6`|o-DZB-FwfuhbWgki=)?2mPt&dWFTmQ$ty@(QvM=JijAe!~=FJ%L+i8~H5jDbm7A|6-BR@b@"
    "+Cz^sue)^&jRK9$?cXO&tuXWntWn>GKF!i|$<Bca>^UyGn6g|!3TK@G-><G;aqPvHds=on;(t7||IDhB`Fx0Hk-wd^hUh3-Llogs"
    "b#F}1mkvJBO)0uazv*;+#T-+ow+No$Hrfv<JtBz2v4BuCXa;K{qqf+@)`}d9FmRG7)AL^DkgC4Ep#PRwj}@xK^rAQ02+KIn@?-5f"
    "RJiO2Z@X;(XLS^+c=Y9%-iA5`ISB&#J?XgCH1xyn^LY<q;W6tTEZc~p-ECgJcj0pP`Af%QFZBL9?1HDTSD<9RPvKVRGy>okT|P!3"
    "KLp)CzJkFv4pE(k`5R2P<P93y5hy0ooKcSSB<H{JO!9Bx4PmO@@|e$H{y}Kzz?!IId)`8&c7Zd}kqo=DHAlDQUprhk!h(JXZsTBK"
    "*C!m-d%gmM^ZUWTFO>4)FCEf=A8dggzgOBGJr2A1&RbzfF9rH$D_;-vha^AW0ckI8(XYOL6cKiF{vkTg@nxnj{oU{V$3J0i-S58u"
    "xV#Dt"
)
