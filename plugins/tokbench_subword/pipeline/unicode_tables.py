"""Classes of characters as in `tokenizers`; written by tools/character_tables.py, do not edit."""

# Mn: what strip_accents removes after NFD.
BERT_MARKS = (
    "c-mc4J!@1^5S_Un@4fxXu40t1CIpQTmFP1{R#*H$5yZ;I#xx=%g*H~!R*HfUP(dP!jRdWNt)PvFjbLFRSZON+e}IT*&b?X0;_Tcv"
    "bLY&*Ju9~gy&(^rM!D;BPE-|e87k+sCAE%A59cK<#c2UpEXZ#7rnE1MxHHs-?1E2WRXq@8KkOaVX&I1IC1?excn~!~GKuq${vZ|X"
    "Hu{_#qt6izB%XyFZEF;dY%+}U5|?AG#8>6}Q?Mt1HZae#m&hiAl!&+f%P)Wk-zM*=fBIX7Et#uwnfFWZR&tf+f<3ihFTnQm+=hXU"
    "aVZv$SeWXJG~i$6(o&u+c7ii`EIdeuoR0l;fp^yQYpXs<IBw-MpQB`l4$Q_nhxijKdlLs+V}oOP`IhRWSuJa`KZh9#Z8BD)*E6VJ"
    "GZq<-z$_lOjr?iEk_fyU&4Tf?9=sJ}kCO^IEE4ikJpvz87w{3}b3`=Bp)G%Q;QD<lbOnNWWs10t%U^yb-850t$wgqrF+-VY%X(@z"
    "`npw)pz;LfKLDnh69rB)3!KfeHMFxb4g!aB*N(4}B)<>V;v1UfV3pRN+1K}|J-kd$K9%_TVXjBEpxYe|Ya9XfJX2nnW3`FXf_AYd"
    "FNgBp&fz@6y;gFPx^(Ei0o{1$$Y%{ZSyRqh$v8fSdG0;fr$_SJq_*@=vD+Ia=OTafflGXfM0IWS%qeM!Wdfh~{hIwA2k+Mku6wJN"
    "@NqA0Y#~DlnFV=hdwSE=0SeA@L1Vynj?tCpJ8|vhdab`yR(`ks0`zb@2m"
)

# NUL, U+FFFD, Cc, Cf and Co but tab and line ends: what clean_text removes.
BERT_CONTROLS = (
    "c-mv+WME=sVqjzxVu)u{WZ-3FWVpn|$i^TBWE@}w5{5whPZ3D`;b&xJkOE>uAZBFbVwmusiLt?m;XgM}@+TuBGXqHZevr~f*O?eu"
    "7|v@laxk>rH2@08F(xoH{AXtT_n#SP9hd|Ft}_(M"
)

# What normal forms take apart, put in order or compose.
CHANGING = (
    "c-nncJ&%=D5S}^b{k&g$cUd+pSKI{wmv1CWK#b8SSql<HLIb+mkc~tjKw@k}tSB~Of-x~Bh!|;&F;W?|u`_hU#saf3v7q2D_{?+W"
    "zTDk_#dFVl=FFLyGxN+`c|oHD?TczHg|Aywr34hnfS?%=u{W4bL4=WS)p6`6f!g;KzDvOLCV+J^t3kRz0h=A2ZfpeI44Awp3pm>V"
    "8#6r1WuUJ^Z<cZ7K;&97Hbq>~<5WLa*NL$4_%n;Ilxe;vP*z}7zBRyC^lxR1(en@;!?XWCUukbGVr}C+2blxQXUp>y<Wp0ub(aSl"
    "94fDA8-*y4IFnCFpN=w_hru!GRG#3#WIToQCv_m-SQR%xpsa?yCYK#pKSYLAH^>~bog7)E`;6SOS;<@ef{L<;z|3h1=$OAc_d9K}"
    "N9AqbpKb02GN$6|gFNf<ZDdv;qv{d;%;l#>G8er%>Sv3q?q2YFwLktC_mSCM^q712?ql7}SOeJfkP)>b8$pLYx@4aDZa+rHu;96?"
    "yl8Lwd;Yc{ezKDp;JUeL0e{%XXI6~AOnV-?NtRD#FRC(6J_OmwjJ0JeDz_is&wJ#rVEr<cvP<%2B(0?>$Ue&3zy$CFQlKdRNtEfP"
    "#e4#aQ%;nvzE({h5@sNK4(k}uqmJqt@A{g?3$J^Jbxn?y(GF`K={WJp>NH@mmcys9rVi<VxS4aZ&HI+?;2rl6L!FWxmO-b`y{tvC"
    "qN{^Ukn~w2+s%$nu}wjq`*+*xr#{K7Qzx8bC8t-5{2Ft+%D6Jw4ivy4$ZiK+Qn_jMT*OtQ>kadD9-EJ_vAgeLTHP2nOGp1ySTN=n"
    "9(nXg*70RIGCsw9$@5Y9xW8&Rf1l9>MBRgj8OZ05@jX~S1}+DA@K0)_7L)M?g1UtL6?>hr^%pxGfFB28$Oim7PU8paQ5pMk?>Fn$"
    "Q!vBHbnPqEtHGz8GEX`(<)Xfd^)wh;!e9;?>zTWi!|Z)9`@R+HB`EL50P4yb7%FrN_8pSVik>w@xMGj_H4W>~z{*yV7FVs7%clE<"
    "dArv2kmjIcN4L!HJ*(6KU>de7C$Rkm9fsECX6$G3BEFA!v!90SN4tIW5tFb7*Af2i4F62tqe4N--A~#XH<tbnuwKOaxyA9rbqn+m"
    "4E+18DgL$%54Y!4{$FW@>tg?jmE-5A$Kie6dnDyLkP#hEktO0~hM)SmWb>!q$$f^J?5<t>&VKgE<vvB@bf`}ATjSWA0dCj4JZJ`Q"
    "DtgO}rgRidBMlK(>90m;Xq<w~M(nj1P40hE_WirfznmPOmG!u6g*wOSvJ;MLcIo#^nSPzg^3s9-0Bo37bp"
)

# What StripAccents removes.
MARKS = (
    "c-nQ7y=xP37{{OIUUJD@k|rf-(UMSW5R1mfptZIriYVeFPJ)9XcBmjYsiPn$2tq*xEg~*mTol1U9CYd?bZ~RhwGRFPB7UCdPEoPL"
    "bI<$R_xGIKEa_FbA7~<X0_}^cLP0?)CpD9Swxxl*NKl|9$b6A($JW&eIY-RAR%8mB!c{{kmR;~0T1Va{vu+!O5=qJLpwD@)#Onp<"
    "74*M-u|$P0^j?AU?6<#M^a`c5NzF3cYId<NP%rfO$b0RC&l9VKEg>%Zr_TR;f9Cv}*=9R|9D$D(vyEaqglyne(J#7Oa%?mBDfooP"
    "=489>)t38XFjeh&{Y%)!=@k{bTD=gxrd7{Nk>ABQUL|}wPWePfbkZyIv0X=>LcT^;1bs4i4{Az@4keXm9+9KiX0$0gc*ZJ8U9AB{"
    "9bZcx<vX{@R-YxL;+pC#!^W~6^U6QQG2gS9F3|b8fw4r;#|`z<NM#c3G_-6DL$9Ok7Ry<TL+)cMv=6Md(0DgVGc@lJa|~XE+k4tJ"
    "L&q%icaDo&ou-b-U-QEV<mFQ{e~z`m{Wj!7g7(Es4{i6`HQ&ebBW@w|Sys*PI7QnJ9CLX3yu@+z9upiU!eAL7SK#Ntv4riJBD4wK"
    "?4<K2i{-uj151Fpkw;ZHfI!ZG_+=Jeq~)#Dhc9CsgV*KF6B~Ac@RhReVUbAguGo}o(|*q-Fe!V3F0Ka#%G(h=z&1lXDs^a#NTv9C"
    ">ZjZE@cb8#WwnWN1$zBrpx;!Mzh^%IAvHbm"
)

# What Punctuation and BertPreTokenizer cut at.
PUNCTUATION = (
    "c-k$JPe@cz6vofF@69-l&L}7<hFXS_D5wN(6g4-3i`+%It00h&gtif(xDrti3DR7+5_RKJP`5%WaTTot4P3ftG|1m~XBOYP-#vf6"
    "bIv`_9(kSRy~<iW3sUQJw+u)?-a|ZvQyFvMA|bK|&r>cALIr);8i9jCv;~_&@g2O^i}uGou_4NJU|5nj5Baau#VnthO2u6#M#5br"
    "PjXIq#!?&~D7-Jn@6@a9tJt;dD*PPnNzU&oB6N9;9jVAq_4CCU(aAp$*>seLQ60rK?m4SL>Nx8y4A@9m0n}PM&LSwKM7Kdsa!fG|"
    ">F~U*C*EXZcphT7%Rp3T9-&qDel87mn$Sl|Y(T9ZPc3*;nRMYw@hgFlw{dW{kM#F1p!5RIlQ@UlAiSURHC@%iKjHt(DPB^*#g2r|"
    "ojOhan4DtFOXGHeZImA*Ynr*d(7>Y0;twh-)T4Y;w_Dos0NB>fFLgUpfL68^c=c|`Jkb;26^eV+kh!>Z^_7wwc%w}GX9`g|v6qy8"
    "58qN#x9-h0i}kNuhpohxmeuK!3O(bhzwFnJZkJlp&5x0L?_N6~"
)

# What Digits cuts at.
DIGITS = (
    "c-l=;JxH8E5PfgI-`t&=AMf-Co)$rgphyw|;uTgl21`33m0I`*g2c{BR6?-2fQTfJT$7M85U@BcEJUzUD<L2V79rSNkTkye{0=PM"
    "?AzJdnK!eG0cP-y4gm>A51+GgtWxH{%(f@9B=`(5lX8R8evVC86ptBUO6#=Nh)*yp{x*#pVJqIdgk*3WXm=f|%wJ0$3I*Z2ov)Bt"
    "d~LXY8X0d$F;69yLQhr0J8dr|A;4+CGR9ay-De3`8O5xJGDSW>v+A5V`q;1>CB`6I&?VlZ_4lQDcg@tSnJr`8jlK(M`HJ;lshaDL"
    "$3EmZh({XNiQ`i|Q|=BGGiA~l;LzfJM5<KOD0-w}RNjKJf1)lqJ{0;ftb<qDmn6^vrgfoRc&<x_re&bfvtuWAENQPwE$CQfN;awt"
    "%EG3RNHhI!<kY1zuN#?6a<t+NbNJ%vRVFN9ko47o3#L!<TDZK6&*NLndF(A~SABec{#4};zU>^_aBlzP=2!AZvZ|01W>~~Y%onKH"
    "#i~uMZswmw9R+GQ5&bdbkg|D#FJ*nni|j}GM;CcZzgE5lv$;$M"
)

# The script of each code point, 0 for none.
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
