import { fontStack } from '../figure/lettering.ts';

/**
 * The style of the page. It has no URL and no foreign content, so that the page's own security policy can allow it by
 * digest. In print the map fills the first sheet, in the orientation of the map.
 */
export function pageStyle(map: { readonly width: number; readonly height: number }): string {
  const isPortrait = map.height > map.width;
  const [paper, height] = isPortrait ? ['A4 portrait', '272mm'] : ['A4 landscape', '185mm'];
  // The key is beside the map unless the map is very wide.
  const isBeside = !isPortrait && map.width < 1.6 * map.height;
  const front = isBeside
    ? `grid-template:auto 1fr/1fr 57mm;grid-template-areas:"head head" "map key"`
    : `grid-template:auto 1fr auto/1fr;grid-template-areas:"head" "map" "key"`;
  const natural = Math.round(map.width);
  return `
:root{color-scheme:light;--ink:#14181c;--quiet:#4d5761;--line:#c9d0d6;--card:#f3f5f7;--b:#00634a;--h:#0a559c;--v:#a84300;--o:#333;--read:${Math.round(natural * 0.85)}px;--twice:${2 * natural}px;font:16px/1.45 ${fontStack}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1400px;padding:0 1rem 3rem;background:#fff;color:var(--ink);overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2;margin:1rem 0 .2rem}
h2{font-size:1.2rem;margin:2.2rem 0 .5rem;border-bottom:2px solid var(--ink);padding-bottom:.15rem}
h2 small{font-weight:400;color:var(--quiet)}
p{margin:.4rem 0;max-width:75ch}
a{color:inherit}
.count{font-size:1.05rem;margin:.1rem 0 .6rem;max-width:none}
.facts{display:flex;flex-wrap:wrap;gap:.2rem 1.6rem;margin:.3rem 0 .7rem;font-size:.9rem}
.facts div{display:flex;gap:.4rem}
.facts dt{color:var(--quiet);flex:none}
.facts dd{margin:0;font-weight:600}
nav{display:flex;flex-wrap:wrap;gap:0 .3rem;margin:.2rem 0 .4rem}
nav a{padding:.55rem .7rem;min-height:44px;text-decoration:none;border-bottom:3px solid var(--line)}
.zoom{position:absolute;opacity:0;width:1px;height:1px}
.zooms{display:flex;gap:.4rem;margin:.4rem 0}
.zooms label{padding:.55rem .9rem;min-height:44px;border:1px solid var(--line);border-radius:6px;cursor:pointer}
#zoom-whole:checked~.zooms [for=zoom-whole],#zoom-read:checked~.zooms [for=zoom-read],#zoom-twice:checked~.zooms [for=zoom-twice]{background:var(--ink);color:#fff;border-color:var(--ink)}
.zoom:focus-visible~.zooms{outline:3px solid var(--h);outline-offset:2px}
.sheet{overflow:auto;border:1px solid var(--line);background:#fff;-webkit-overflow-scrolling:touch}
.sheet svg{display:block;height:auto;margin:0 auto}
#zoom-whole:checked~.sheet svg{width:100%;max-height:88vh}
#zoom-read:checked~.sheet svg{width:100%;min-width:var(--read)}
#zoom-twice:checked~.sheet{max-height:88vh}
#zoom-twice:checked~.sheet svg{width:var(--twice)}
.sheet a:focus-visible,.sheet a:target{outline:3px solid #d000d0;outline-offset:2px}
.legend{display:grid;grid-template-columns:repeat(auto-fit,minmax(300px,1fr));gap:.3rem 1.5rem;margin:.6rem 0;padding:0;list-style:none;font-size:.87rem;line-height:1.3}
.legend li{display:flex;gap:.6rem;align-items:center}
.legend svg{flex:none}
.notes{font-size:.87rem;color:var(--quiet);margin:.3rem 0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.87rem;line-height:1.35}
th,td{text-align:left;vertical-align:top;padding:.3rem .55rem;border-bottom:1px solid var(--line)}
th{border-bottom:2px solid var(--quiet);white-space:nowrap}
th small{font-weight:400;color:var(--quiet);white-space:normal}
td{unicode-bidi:isolate}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th.n{text-align:right}
td.t{white-space:nowrap}
tr:target{background:#fde9ff;outline:2px solid #d000d0}
td ul{margin:0;padding:0;list-style:none}
td li+li{margin-top:.15rem}
code,.id{font:.92em/1.3 ui-monospace,'DejaVu Sans Mono',Consolas,monospace}
bdi{white-space:pre-wrap;overflow-wrap:anywhere}
.id{color:var(--quiet);word-break:break-all}
small,.src{color:var(--quiet);font-size:.92em}
.m{display:inline-block;min-width:1.5em;text-align:center;font-weight:700;font-size:.9em;line-height:1.35;padding:0 .25em;border:1.5px solid;border-radius:2px;background:#fff}
.m.b{color:#fff;background:var(--b);border-color:var(--b);border-radius:1em}
.m.h{color:var(--h);border-style:solid}
.m.v{color:var(--v);border-style:dashed;border-radius:.5em .5em 0 0}
.m.o{color:var(--o);border-style:dotted;border-radius:1em}
.s{font-weight:700;white-space:nowrap}
.s.wrong{background:#b00020;color:#fff;padding:0 .35em;border-radius:2px}
.s.warning{border:2px solid var(--ink);padding:0 .3em;border-radius:2px}
.s.note{color:var(--quiet)}
.s.not-checked{border:1px dashed var(--quiet);padding:0 .3em}
.here{font-weight:600}
@media screen{
main section{content-visibility:auto;contain-intrinsic-size:auto 60rem}
}
@media (max-width:640px){
body{padding:0 .7rem 2rem}
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cards,.cards tbody{display:block}
.cards tr{display:block;border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.3rem .2rem}
.cards td{display:block;position:relative;border:0;padding:.1rem .6rem .1rem 6.9rem;min-height:1.5em;text-align:left;white-space:normal}
.cards td::before{content:attr(data-c);position:absolute;left:.6rem;width:6rem;color:var(--quiet)}
.cards td:first-child{font-size:1.05em}
td br{display:none}
td br+*{margin-left:.5em}
.cards td:empty{display:none}
}
@page{size:${paper};margin:10mm 11mm 13mm;@bottom-right{content:counter(page) " / " counter(pages);font:8pt ${fontStack};color:#555}}
@media print{
:root{font-size:10.5pt}
body{max-width:none;padding:0}
a{text-decoration:none}
nav,.zooms,.zoom{display:none}
h1{font-size:15pt;margin:0}
h2{font-size:12pt;margin:6mm 0 2mm;break-after:avoid}
.count{font-size:10.5pt;margin:0 0 1mm}
.facts{font-size:8pt;margin:0 0 1.5mm;gap:0 5mm}
.front{display:grid;${front};gap:0 3mm;height:${height};break-after:page}
.front header{grid-area:head}
.front .key{grid-area:key;overflow:hidden}
.front .sheet{grid-area:map;position:relative;min-height:0;border:0;overflow:hidden;max-height:none!important}
.front .sheet svg{position:absolute;inset:0;margin:0;width:100%!important;height:100%!important;min-width:0!important;max-width:none!important;max-height:none!important}
.legend{font-size:7.5pt;grid-template-columns:repeat(${isBeside ? 1 : isPortrait ? 3 : 4},1fr);gap:${isBeside ? '1.6mm' : '.6mm'} 4mm;margin:1mm 0 0}
.legend svg{${isBeside ? 'max-width:21mm' : ''}}
.notes{font-size:7.5pt;margin:.8mm 0 0;max-width:none}
p{font-size:8.5pt;max-width:none}
table{font-size:8pt}
thead{display:table-header-group}
tr,.legend li{break-inside:avoid}
th,td{padding:.6mm 1.4mm}
tr:target{background:none;outline:0}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
`;
}
