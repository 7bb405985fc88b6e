/** The looks and the behavior of the profile page: colors for light and dark, and the order of the table. */

/** Both color schemes; `data-theme` on the root overrides that of the system. */
const colors = (selector: string, scheme: 'light' | 'dark'): string => {
  const values =
    scheme === 'light'
      ? '--page:#fbfbfc;--card:#fff;--text:#1d2129;--soft:#5f6774;--edge:#dfe3ea;--hover:#eef3fb;--accent:#2458a6;--heat:#d9480f;--low:#b3261e;--dot:#c2255c;--note:#fff4d6'
      : '--page:#14171c;--card:#1b1f26;--text:#e4e7ec;--soft:#9aa3b2;--edge:#323843;--hover:#232a35;--accent:#8ab4f8;--heat:#ff8c42;--low:#ff8a80;--dot:#ff7aa8;--note:#3a3113';
  return `${selector}{color-scheme:${scheme};${values}}`;
};

/** The style sheet of the page. */
export const style = `${colors(':root', 'light')}
@media (prefers-color-scheme:dark){${colors(':root:not([data-theme=light])', 'dark')}}
${colors(':root[data-theme=dark]', 'dark')}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:14px/1.5 system-ui,sans-serif}
main{max-width:1240px;margin:0 auto;padding:24px}
header{display:flex;gap:16px;align-items:baseline;justify-content:space-between}
h1{font-size:22px;line-height:1.3;margin:0;overflow-wrap:anywhere}h2{font-size:15px;margin:28px 0 10px}
.sub{color:var(--soft);margin:2px 0 20px}
.note{background:var(--note);border:1px solid var(--edge);border-radius:8px;padding:8px 12px;margin:12px 0}
button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}
#theme{border:1px solid var(--edge);border-radius:6px;padding:3px 10px;color:var(--soft);white-space:nowrap}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px}
.card{background:var(--card);border:1px solid var(--edge);border-radius:10px;padding:12px 14px}
.card b{display:block;font-size:20px;line-height:1.3;font-variant-numeric:tabular-nums}.card span{color:var(--soft)}
.two{display:grid;grid-template-columns:minmax(0,7fr) minmax(0,5fr);gap:16px;align-items:start}
@media (max-width:900px){.two{grid-template-columns:minmax(0,1fr)}}
.panel{background:var(--card);border:1px solid var(--edge);border-radius:10px;padding:14px}
.panel ul{margin:0;padding-left:18px}.panel small{color:var(--soft)}
.mix{display:flex;height:18px;border-radius:5px;overflow:hidden;margin-bottom:8px}.mix i{display:block}
.keys{display:flex;flex-wrap:wrap;gap:2px 14px;color:var(--soft)}.keys i{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:5px}
.heatmap{display:flex;height:34px;border:1px solid var(--edge);border-radius:6px;overflow:hidden;background:var(--card)}
.heatmap a{flex:1 1 0;min-width:0;height:100%}.heatmap a:hover{outline:2px solid var(--accent);outline-offset:-2px}
svg{display:block;width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:var(--soft)}svg .axis{stroke:var(--edge)}svg .roof{stroke:var(--accent);stroke-width:2;fill:none}svg .at{stroke:var(--dot);stroke-width:2;fill:none}svg circle{fill:var(--dot)}
table{width:100%;table-layout:fixed;border-collapse:collapse;background:var(--card);border:1px solid var(--edge);font-size:13px}
th{position:sticky;top:0;background:var(--card);border-bottom:1px solid var(--edge);text-align:right;font-weight:600;padding:6px 8px;z-index:1}
th button{width:100%;text-align:inherit;font-weight:inherit}th[aria-sort] button::after{content:" \\2193"}th[aria-sort=ascending] button::after{content:" \\2191"}
td{padding:1px 8px;text-align:right;font-variant-numeric:tabular-nums;vertical-align:top}
th.code,td.code{text-align:left}td.code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:12px;line-height:20px;white-space:pre-wrap;overflow-wrap:anywhere}
td.origin{color:var(--soft)}td.bar{padding:3px 4px}td.bar i{display:block;height:14px;border-radius:3px}
tbody tr:hover,tbody tr:target{background:var(--hover)}tr.cold{color:var(--soft)}.low{color:var(--low);font-weight:600}`;

/** The script of the page: the order of the rows, and the color scheme. The page is whole without it. */
export const script = `"use strict";
const body=document.querySelector("#lines tbody"),heads=[...document.querySelectorAll("#lines th")];
const valueAt=(row,at)=>{const v=row.cells[at].dataset.v;return v===undefined||v===""?undefined:Number(v)};
const sortBy=(at)=>{const head=heads[at],isDown=head.getAttribute("aria-sort")!=="descending"&&at>0||head.getAttribute("aria-sort")==="ascending";
for(const each of heads)each.removeAttribute("aria-sort");head.setAttribute("aria-sort",isDown?"descending":"ascending");
const rows=[...body.rows];rows.sort((a,b)=>{const x=valueAt(a,at),y=valueAt(b,at);
if(x===undefined||y===undefined)return(x===undefined)-(y===undefined);return isDown?y-x:x-y});body.append(...rows)};
heads.forEach((head,at)=>head.querySelector("button")?.addEventListener("click",()=>sortBy(at)));
document.querySelector("#theme").addEventListener("click",()=>{const root=document.documentElement,
isDark=root.dataset.theme?root.dataset.theme==="dark":matchMedia("(prefers-color-scheme:dark)").matches;root.dataset.theme=isDark?"light":"dark"});`;
