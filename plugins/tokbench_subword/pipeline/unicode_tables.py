"""Classes of characters as `tokenizers` has them; by tools/character_tables.py, not to be edited."""

# Mn: what strip_accents removes after NFD.
BERT_MARKS = (
    "c-k#dJ!@1!6y=<I=i}{ryZe+RvaI`9G{S0#K4Zwn4N*}9v9htzCIpf~8!KxogMuKKK!_+dA!rqB1F;dY5mHzPR@w@|Um)HQX9niu"
    "o_pq=b07H!FX*0d8UStLMqZDXSPAqb^dze8-F%dtP-GCeDOp2*XjqL32@Uozf@;JVd%Osxk|L-m$kW|{nqr1xN<y^v3X3Q(gGF%y"
    "4b1<?JscDE@;|;+1Oe`Vp@_?%2XlXuU8FH=!I)i+$qcJ%i6lEzDYa=wk2XFyc^{-FJyyIzglOp*rsXB@P?Q<Gd^f25i;x%@eS@f5"
    "SG9(5+ZtpA`z8l6Z(%D%Mv>e!7n%s^PvIxbc|CAVv!eKOOr8Nt{dcPO`Sq8HZS;AI&n+K{4qpM?qqDJ-pOxB7AqKc+7L$c}at;@a"
    "pLAx@8AcqYW+--F13z3@mR|yX0vm9Tn_{|kAc}2ptAV-pyqvcxugj!Eyo7?YSuV?BMBFjXIL?t(a4Lw~H)E_r;33r8*5&P(VE2-I"
    "3$2Lt%6;5{TL|BxKHUO8pOzz$q0)88UVErB5iLwOwBH;LZ+Gk8_zOt+IA;"
)

# NUL, U+FFFD, Cc, Cf and Co but tab and line ends: what clean_text removes.
BERT_CONTROLS = (
    "c-mv&WMX0zidW=iyu`&O#(02{(U9?<BI6%^Rw-6PRz|J~|Ct(${&O?_WMpP!+^@*^=sFY2c}<SCy9SJM2@U_5|NUoX0%8C@HWaS"
)

# What normal forms take apart, put in order or compose.
CHANGING = (
    "c-mc4&5PDm6y|x(x%d7)-><R3@zr@>b!M8eG82=`kfLH*1eMYzZE`aVi53+^o61%$Bm*Oez|6>PNaQN2O}l6pZCVr&v~c0S&~tw?"
    "Ms@FdfA{0u_qoqG=Q)oU2PmV)A`$=xod&}I5s}>&LvCZKxnN@Ch})-Z8PUw;8(bh`Zw<T3Nn{v5gQ+73Aarns+=7Nc%m3^m(wsq$"
    "MFM2Lszo$$$OQ84fBUU_cX=I-uyt1A#rJ{ozB{*{s#BZ-vje!VTA!jE^*7&(`SE8c_c+Q-?H+rphh59Efl02KTX9Ml1<XpgfKCW4"
    "$Wj~eqUKk!m9#?PIi&RplBks3xof@Nu`|mg5;wN2ugg~I`4b96>l;Gu`GEUTbKFIuRQIkoNG$_c|Ldf|n%EU`?YQ3g-R<jy39bMY"
    "egr;%{R*yPTR|M?tybi2dc9O0=EK5&93RWk7Ri-2<3U4>5q7rNb240mzYu5T{E|k2%{JkK=%c5!&L|}%>L~vkQ$!Ra&)%ERFrcWn"
    "HSTVem8PFlQ_J;0+rr5w3DHA5kR{XQn<LC;2<&G@oAto#sdq9kj1;vrWR=+0UHyEYM?cD&yohTRHf$YNjj!3;B6xawH7BR}1^ciP"
    "g>S;yju`s0@D#V!LqTU9Kd@%K(-SNg_v2lh=j}hmubTH~`3^3C4Za1&qa(J6mlW*VS(e!q;1Jeby1M)cF6Fd>6*~Rd6Fjq&nh<t$"
    "BF>UKyZaVLkMi(xJ5$9)Va`Z;IT#n<-$~@m-7Fzpa{K{&gmAf)dD$G-!QU!8ggGyS*YZhQ$i?8t@U${;hF^it{iDiWvhY)m*vlxQ"
    "@s`fr<j9+R10PnnaRuRM`s;Jx`<2FGp<12yHogb@#-7J&mM5i2`6+?oF-ft|yc4-tA$mWPUyujS50c6~W%XYlrgQ0L=@@5GGs~_^"
    "V%(fEmCf@zE$>tdoqF@_VNj`I_=C!Ig6R$};8kny^)m6xi~gzq4T7jst^"
)

# What StripAccents removes.
MARKS = (
    "c-l=;J!@1^5apbidH250-F@t4(PbZ-xJZJoSr?6Kf})5bR+36cp@=CW2v%w-2nvEAsGvc_CXJ0EScrvI>4X$^R@%nGUm)JafVoqh"
    "nR92(9OiCx^9kJp4gfF&&Zomx9jlHJ3EhXPvyv{xGm01jJ0N!oOfLvZxP)C91CFG`*g>WN2`UQG3HITaG<PvQ6INKVK++hqy66H!"
    "9n&4ofAp_1>0I#~GztoR$rGT<{8cal)93;_m^|g-CTJ=8F|IY+s$nXfXr2Lyel~gUq$}Of=~OSqKyGsew=&JX!;UBD62sbQn{Vuo"
    "GpX`%F>F2$vs(%k;U*T$wru)OTOI*ddT%sZ<F{=nk{&PeF()$7wo4q9d&?t!PkvD6i$2a289WCvLeN4B-p-lvSFnWdUI9O>Uax<3"
    "_z66N-OnZH*I7|)fG-j`S{v&iJuCg<Br+Kmv0Tm~yhhg2-KK{n?F-7a=61-%9WFPn=c~1QiHBdFLh<n>Y{{+rLv?+)4sOnwMBdX?"
    "`V{i1c1%Ye1*QzOt;C^07f!%78t#Vs@OJnce*vL?J75"
)

# What Punctuation and BertPreTokenizer cut at.
PUNCTUATION = (
    "c-jq*%S)7D7{&RW=Xu}no6osHgT_QoB}$PnM&L&1wh>%3JE?Xh2qNNuTN$Eo6_Fq!l(ldb)uyFjZrg^da4n2Me?XIgy&O1ab#7N{"
    "Mb?Z>zed0)WQh+0IY$<6=r*8)Ni~vGkmh`mo7G>~bgjjPRB$d{MxG?^M`|$cv&;q8YWxf*UfO}*u1P(#S-nr;Ha@g3{Y1~nh+oLw"
    ";WOcm?&U)q#EW@@3guB%HE_SIZ+W$&R<UKncm0aaf}<{PXmjDv%nOz4lzEogU!0=XvIPp(;y?Mkt{dD^o2Qk!*1e~?25_{8eozdL"
    "Q3X%uw$r3YN-{N*;ZizG_SS4SFvSO>ANUR}HdUISn?1-L`=?U2BE08Q>I6%3u}5*4UFR<&OZEr*+6;qNXanwtoZ~&{&xHRKFF1+"
)

# What Digits cuts at.
DIGITS = (
    "c-ke9JxGFK5XZTD-si)=nw4*FNoWm`6c|wvL=H_ZN~2rQR1Wq5fz;+C6cJ4Z5m8VsMPm>&SVMyZP1Y0yg3u7rVnj=iv>e<W{O<p|"
    "acr_A7N>rc2oHoKfdU+rx3vIPtHBKzy^NgJ;T0^}S<2mIr0^u&FC{(+3LY*QMe?7wn`=V0jZ!EZ5=vR-B+F-+ocCHz>>aeNDB|l7"
    "FYN3PVunJ4h=<;qgj+(D)gfWHox`)3vOu{)_z;P}Oc&R=f5?fFp%Td&;Yyo`j{DNmQzyjS$zyZADUOM>%$YtjqHC<i+bMY9m@w+B"
    ">k`F^ge3L}+WjRwv$bh4mZ02B;7o)UP?pF>8)WsS(X^YM3$u2&g-Z9o6X`t%CGLG?@pEIp<#z*aK2kRm)oxS-S_0pMN9nU?4%93O"
    "axw`D-RoeZ2Y=6IN-F"
)

# The script of each code point, numbered, 0 for none; packed as tools/unicode_table.py says.
SCRIPTS = (
    "c-nndTWnlc6<vGZbM9-#^B#|9{FrOk@!PTUsD0C<jU6{`(xhq9yi;P*G)Y6!)^VCPB?-iKoaUns@rn3Ak*E+z2)+OnApsHy@qq*a"
    "$`7iL_(VV@5MKzf?#;wh72;#fK4+i3_uXf|&PW82NE_l36DpD?tky)dN&Li-LA7EXm5RAy4bL2CN(IJBLQ`I{7h55Ax;b0$?ut?G"
    "o8<WeP~RgR<cGu;?kF8h!w))P1B*;Z6QN7wL?I!i!iWe>CTti9U*@_mlY?Y-Kr>D_nca+B+jiL8MrbY%$#+5Xg4wW2Z6EElBVl*p"
    "kkLX>w9qITNYRHDm1yUh-V_B6`C1HGd;_06!?hG`DrZadv*f~*cwVAjiF#Z=gqC=_l5L$kaJctM{8mZ}$dsvH4v2(OzfAoyb<4D0"
    "4qJRivn<G$=}S2ak87_&eue&4XtzSW3iY^_3iT>Mi|@cEHS7Em!YbEQ7fzM>RYRKW=_9F=f<9KWFjc!Qqda$sT(t_@PT$*of@keD"
    "q5x-oZ{W3Sx=!S@J%r!x*QimWM2!+PYSehE8oj9nEgrRMN=Ula^jwka;8_RtQaTJ>Uo+Yr1@0TrI=@yg!KrtU(q5gFQ}?)Mmg;W0"
    "m%0zP9+K}M+jtDD%0?G9bW*dE((9CW?4+lijAN&h^8S0?mh!aIw)igBv`G1=YY(KWAEs+CrP9S(>+-~ODK>Q9m!1JgkH8YzGb++!"
    "n#&sPg+#n*#BW8?S`W8q@BcWX&1hR|Jx4@vq6XaFW6)mu(zk3M>4ww4Pn`Y?ybW}BgNMvOm8}vCR*)ScXNZ>?Qe=l0pu-{D1S2Xs"
    "!d4n#=th$L3HT$Uuzm9gN1KpQ7D5U(!f1A^2Rg=993O)j=jX>WaK?2w+Q`=0s1rLO6W!2>4BQFYn#e&-9<!7CVJ64nY?|4;75-+k"
    "C5E#lPdHmAy#UjjeE7x@F>M3`$Nabi!)_F=4p{4nZn9Pl(Z=<>6*C2EtS+l<=bT{#>_Ch9tr_zWP4XTkWdv<5l@VJeO=b}<Em@;-"
    "oHV0MQ1UC3)HXQMMA7sjF9RGrjw(l=NGDO$VR2YRe`B%8AnKAqRqlI_F01^5`H_g|qkfjhJ{n?Bn3{kj(8#?8>w2Fois=~MG^>4D"
    "q8frU>;DH{B)hRaZb0Ib$i^QEKfwHmjhRKF9tXxWRs7iS!xFPVctMRB-}n?^V4Yz&%>_DFa5!3}pJob8=2~W&O*s_P&G>|TL*nmk"
    "K`1lvhhGznY<o9=vuzr|W0TvzrKoskcCb>UPcJYuEPC~^Q-jA@7sAXx5yRg(Ph{a1STi#lX<TOek(rey>vY$FWXSIdVRmUZzdT37"
    "b4<=0TWZd9M^Db7<4L=_hA?7ETUZZ`vWqlea>L$(yE)u<^NY>*k0aZx!8A8vZCCtP&c65(2Gm2=w|qYsFTNoXup$C&Aq=mg82*{j"
    "K_Q%hhEo^{lbS6gcQ83m<q`T>CJanS_3&O&Bl3x-Fcb43ipTj1HW^epx(-fJp|eCNoOSc8hIx81PjmD9`h1?e9Qx*OG6hLBu|eqK"
    "vq?oJFD52r+z3|XDaLEhCgj->oiKZut*4o_eeBWwJ&^tK3`fs1IgA`Q`0V6C#`++AKSW-F=Z4@P-ipj&!I$L7_c;rWv?Dy?<I8fC"
    "J|5*wj*bzW`do8=jPJ;?;COVR3I9ZZ$&>W<q{5!Gr@G*rlII(+&kJTg6P@mWIbDIC-nhUrTcFGWJ8ywqwLmvX%|Za5@ID)zi4eUo"
    "2=hV~!PzM|XT2BMwJ-YT%CP7B^Cfua4YKDw9K5g>(=Tm78{xg=;*T0OvEp1j0CTYi`HS+oUC3Rk!@I;wUS?Nc&LR8qAc9v8Kwl|v"
    "(pQjqwFG%}46}=j{vvO<NdFeu(~BHSSNMP63U!yrTjJZf#5!5xotG%fwJb4HOF@gzdB4Orfv`MR!r}Sba`hDCs-)<9Z4dm{LVR7W"
    "O+l{>pzrnF$h@8m(l(UeU>m#<V(NMW&h<RZ^#X77=3!*t6#Urv{5IUv8yrD5#)%xl8_e`g4v(93=w=STaBqFZ!-ZRmkXxL&w|*-4"
    "Vf72&@$u{C7k_T>!Q74y_-@{2``l(D-Bz4gX8M<1gex50D||y&c&in@*ehjx?5@(W)d>_<i<r41Xx{nD1j={*Zt?EZvEtvgwac(;"
    "9D8d_*&6$BEtwyG7?6Lm&p72&p5Tlw8efz%x`#u0J8E_wKM+pOKuUN|<S2{xDI}9SX%bDTNef!irb*giHti<Pr`EnJ-SfX;D)XRa"
    "ew!%1pZsjT`;JBaE)VbK@vCr(r&C2}N|~-Hi{Itn`We6VRsqBJ_QBp`DDEll2O*7yokaRyk<Cp9LdGQJOA41Tt@Q&qpOXJH9-bvO"
    "yq2wp_7dAg*wlti*IOz7o=P$k&mqfaMU$r`#RkUo!4o60gXfQ9n>6Aia&4(RbHMetMSkOv)0W01kZZJZ6r<_9XK5u<O4#AjgR`ks"
    "zN2Z}vk!&{dA&>wXD@z~jeq}3#c=%H2$}dJ3dO7A_~^O#s|J61dyEo2at6y{KIWwOSLQ$RM*P("
)
