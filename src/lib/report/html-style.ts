const fonts = "system-ui,'Segoe UI','Liberation Sans','Helvetica Neue',Arial,sans-serif";

/**
 * The style of a page: names no address and holds nothing from outside, so that its digest can stand in the page's own
 * policy. The footer of printed pages is the one text in it; it is written as a CSS string, code point by code point
 * where a character could end that string.
 */
export function pageStyle(footer: string): string {
  return `
:root{color-scheme:light;--ink:#14181c;--quiet:#4d5761;--line:#c9d0d6;--good:#00634a;--bad:#b00020;--open:#8a4b00;--goodbg:#e8f4f0;--badbg:#fdecee;--openbg:#fdf3e3;font:16px/1.5 ${fonts}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:900px;padding:1.2rem 1.2rem 3rem;background:#fff;color:var(--ink);overflow-wrap:anywhere}
h1{font-size:1.65rem;line-height:1.2;margin:.1rem 0 .7rem}
.subject h1{font-size:1.25rem}
.above{margin:.6rem 0 0;color:var(--quiet)}
h2{font-size:1.2rem;line-height:1.3;margin:2rem 0 .6rem;border-bottom:2px solid;padding-bottom:.15rem}
h3{font-size:1rem;margin:1.2rem 0 .3rem}
p{margin:.45rem 0}
ol,ul{margin:.4rem 0;padding-left:1.5rem}
li{margin:.25rem 0}
.quiet,footer{color:var(--quiet);font-size:.9rem}
footer{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:.5rem}
.good{color:var(--good)}.bad{color:var(--bad)}.open{color:var(--open)}
.strong{font-weight:700}.soft{color:var(--quiet)}
span.bad,span.open,span.good{font-weight:600}
code{font:.92em/1.35 ui-monospace,'DejaVu Sans Mono',Consolas,monospace}
dd,td,li,p{unicode-bidi:isolate}
.banner{border-left:7px solid;padding:.6rem 1rem;margin:.8rem 0}
.banner p{color:var(--ink);margin:.25rem 0}
.banner .big{color:inherit;font-size:1.25rem;font-weight:700;line-height:1.3}
.banner.good,.figures .good{background:var(--goodbg)}.banner.bad,.figures .bad{background:var(--badbg)}.banner.open,.figures .open{background:var(--openbg)}
.figures{display:flex;flex-wrap:wrap;gap:.6rem;list-style:none;padding:0;margin:.9rem 0}
.figures li{flex:1 1 7.6rem;margin:0;border:1px solid var(--line);border-top:4px solid;padding:.35rem .7rem .5rem}
.figures li.none{color:var(--quiet)}
.figures b{display:block;font-size:1.5rem;line-height:1.25}
.figures span{font-size:.85rem;color:var(--ink)}
.facts{margin:.5rem 0}
.facts div{display:grid;grid-template-columns:11rem 1fr;gap:.2rem 1rem;padding:.16rem 0}
.facts dt{color:var(--quiet)}
.facts dd{margin:0}
.card{border:1px solid var(--line);border-left:7px solid;padding:.5rem .9rem;margin:.7rem 0;color:var(--ink)}
.card.bad{border-left-color:var(--bad)}.card.open{border-left-color:var(--open)}.card.good{border-left-color:var(--good)}
.card h3{margin:.1rem 0 .3rem}
.card .mark{color:#fff;background:var(--ink);padding:.05em .45em;border-radius:3px;font-size:.88em}
.card.bad .mark{background:var(--bad)}.card.open .mark{background:var(--open)}.card.good .mark{background:var(--good)}
table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.4;margin:.6rem 0;table-layout:fixed}
th,td{text-align:left;vertical-align:top;padding:.4rem .55rem;border-bottom:1px solid var(--line)}
th{border-bottom:2px solid var(--quiet);overflow-wrap:normal;hyphens:auto}
tr.bad td,tr.open td,tr.good td,tr.none td{color:var(--ink)}
tr.bad td:first-child{box-shadow:inset 4px 0 var(--bad)}
tr.open td:first-child{box-shadow:inset 4px 0 var(--open)}
${Array.from({ length: 20 }, (_, at) => `.w${at + 1}{width:${at + 1}em}`).join('')}
.letterhead{display:grid;grid-template-columns:1.15fr 1fr;gap:1rem 2.5rem;margin:.5rem 0 2rem}
.letterhead p{margin:0}
.letterhead .from{font-size:.9rem}
.letterhead .to{padding-top:1.8rem}
.letterhead .place{grid-column:2}
.signatures{display:grid;grid-template-columns:1fr 1fr;gap:2.2rem;margin:1.4rem 0}
.signatures span{display:block;border-top:1px solid var(--ink);margin-top:2.6rem;padding-top:.15rem;font-size:.8rem;color:var(--quiet)}
.break{height:0}
@media (max-width:640px){
body{padding:.7rem .8rem 2rem}
h1{font-size:1.35rem}
.facts div{grid-template-columns:1fr;gap:0;padding:.3rem 0}
.letterhead{grid-template-columns:1fr}
.letterhead .to{order:1;padding-top:0}.letterhead .from{order:2}.letterhead .place{grid-column:1;order:3}
.signatures{grid-template-columns:1fr;gap:1.6rem}
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cards colgroup{display:none}
.cards,.cards tbody{display:block}
.cards tr{display:block;border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.3rem .2rem}
.cards tr.bad{border-left:5px solid var(--bad)}.cards tr.open{border-left:5px solid var(--open)}
.cards td,.cards tr td:first-child{display:grid;grid-template-columns:6.7rem 1fr;gap:.6rem;border:0;padding:.12rem .6rem;box-shadow:none}
.cards td::before{content:attr(data-c);color:var(--quiet);font-size:.88em}
.cards td.none{display:none}
}
@page{size:A4 portrait;margin:17mm 18mm 19mm 21mm;@bottom-left{content:${cssString(footer)};font:7.5pt ${fonts};color:#4d5761}@bottom-right{content:counter(page) " / " counter(pages);font:7.5pt ${fonts};color:#4d5761}}
@media print{
:root{font-size:9.7pt;line-height:1.38}
body{max-width:none;padding:0}
footer{display:none}
h1{font-size:16pt}
.subject h1{font-size:12.5pt}
h2{font-size:12pt;margin:5mm 0 2mm;break-after:avoid}
h3{break-after:avoid}
.break{break-after:page}
.banner,.figures,.signatures,tr,li{break-inside:avoid}
.card h3{break-after:avoid}
.facts div{grid-template-columns:36mm 1fr;padding:.3mm 0}
table{font-size:8.4pt}
th,td{padding:.8mm 1.4mm}
thead{display:table-header-group}
p{orphans:2;widows:2}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
`;
}

/** A CSS string that no text can end, and that cannot end the style element either. */
function cssString(text: string): string {
  const safe = [...text].map((char) =>
    /[\p{L}\p{N} .,:;·-]/u.test(char) ? char : `\\${(char.codePointAt(0) ?? 0).toString(16)} `,
  );
  return `"${safe.join('')}"`;
}
