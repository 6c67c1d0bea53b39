// The table is DataTables. Ours: dark mode, opening a row, one filter, columns, keys, verdicts, printing.
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark", dark.matches);
dark.addEventListener("change", paint);
paint();

const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (x) => x.charCodeAt(0));
const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
const { library, pictures, table: csv, formula } = await new Response(unpacked).json();
const { default: DataTable } = await import(`data:text/javascript,${encodeURIComponent(library)}`);

function draw(part) {
  for (const image of part.querySelectorAll("img[data-picture]")) {
    image.src = `data:image/svg+xml,${encodeURIComponent(pictures[image.dataset.picture])}`;
  }
}
draw(document.querySelector("header"));

// What verdicts need of all graphs, before the table takes details out of the page.
const articles = [...document.querySelectorAll("article[data-graph]")];
const nameOf = new Map(articles.map((x) => [x.dataset.graph, x.querySelector("h3").textContent]));

const hasGroups = document.querySelector("#graphs tr[data-graphs*=' ']");
const options = {
  order: [], // as they are: the oddest first
  autoWidth: false,
  columnDefs: [
    { targets: "mine", orderable: false, searchable: false },
    { targets: "data", visible: false },
  ],
  deferRender: true,
  pageLength: 25,
  layout: { topStart: document.querySelector(".tools"), topEnd: "search", bottomStart: "info", bottomEnd: "paging" },
  language: { thousands: "", search: "Filter", info: `_START_ to _END_ of _TOTAL_ rows${hasGroups ? "; a group is one" : ""}`, infoFiltered: "(_MAX_ in all)", infoEmpty: "", zeroRecords: "No row matches." },
};
const table = new DataTable("#graphs", options);
document.documentElement.classList.add("ready");
const tables = new Map([["graphs", table]]);
const folds = document.querySelectorAll("details.fold");
for (const fold of folds) {
  const { id } = fold.querySelector("table");
  const bottom = { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null };
  const folded = new DataTable(`#${id}`, { ...options, layout: bottom, paging: false });
  tables.set(id, folded);
  table.on("search.dt", () => { // one filter for all
    folded.search(table.search()).draw();
    if (table.search() && folded.rows({ search: "applied" }).any()) fold.open = true;
  });
}

function toggle(line) {
  const row = tables.get(line.closest("table").id).row(line);
  const shown = row.child.isShown();
  if (shown) {
    row.child.hide();
  } else {
    const details = document.getElementById(line.dataset.details) ?? row.child()[0];
    if (!details.querySelector(".members")) draw(details);
    row.child() ? row.child.show() : row.child(details, "opened").show();
    // Columns that a narrow screen hides are printed.
    row.child()[0].firstChild.colSpan = line.closest("table").tHead.rows[0].cells.length;
    if (save) show();
  }
  line.querySelector("button").setAttribute("aria-expanded", String(!shown));
}
document.addEventListener("toggle", (event) => event.target.open && draw(event.target), true); // of a member

document.querySelector("main").addEventListener("click", (event) => {
  const button = event.target.closest("button.mark");
  if (button) return markAt(button.closest("[data-graphs]"), button.value);
  const line = event.target.closest("tr[data-details]");
  if (line && !event.target.closest("td.mine")) toggle(line);
});

document.getElementById("verdict").addEventListener("change", (event) => {
  table.column(1).search(event.target.value).draw();
});

document.getElementById("data")?.addEventListener("change", (event) => {
  for (const each of tables.values()) {
    each.columns(".data").visible(false);
    if (event.target.value) each.column(`.data-${event.target.value}`).visible(true);
  }
});

document.querySelector("main").addEventListener("keydown", (event) => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const line = event.target.closest("tr[data-details]");
  if (!step || !line || event.target.closest("select")) return;
  const lines = [...document.querySelectorAll("tr[data-details]")];
  lines[lines.indexOf(line) + step]?.querySelector("button").focus();
  event.preventDefault();
});

function download(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const exported = document.getElementById("export");
exported.hidden = false;
exported.addEventListener("click", () => download(csv, "table.csv"));

// Verdicts are kept in the browser, by the names of the graphs; those of the page's own table come first.
// A name may be "constructor" or "__proto__": no plain object is asked for one.
const key = `skgraphkde ${location.pathname}`;
const save = document.getElementById("save");
const given = new Map(articles.filter((x) => x.dataset.given).map((x) => [nameOf.get(x.dataset.graph), x.dataset.given]));
const page = JSON.stringify(Object.fromEntries(given));
let verdicts = new Map(given);

const namesAt = (place) => place.dataset.graphs.split(" ").map((number) => nameOf.get(number));

// Buttons of rows that are not shown are not made: there may be 10,000.
function show() {
  for (const cell of document.querySelectorAll("[data-graphs] > .mine:empty")) {
    cell.append(document.getElementById("marks").content.cloneNode(true));
    const n = namesAt(cell.parentElement).length;
    const first = cell.parentElement.matches("[data-mixed]") ? "Opens these, as not all stand out; once they are open, marks" : "Marks";
    if (n > 1) for (const button of cell.children) button.title = `${first} all ${n} as ${button.value}`;
  }
  for (const place of document.querySelectorAll("main [data-graphs]")) {
    const found = new Set(namesAt(place).map((name) => verdicts.get(name)));
    for (const button of place.querySelectorAll("button.mark")) {
      const isNested = button.closest("[data-graphs]") !== place;
      if (!isNested) button.setAttribute("aria-pressed", String(found.size === 1 && found.has(button.value)));
    }
  }
  const n = [...nameOf.values()].filter((name) => verdicts.get(name) !== given.get(name)).length;
  save.textContent = n ? `Save ${n} ${given.size ? "new " : ""}verdict${n > 1 ? "s" : ""}` : `Save verdicts (none is ${given.size ? "new" : "marked"})`;
  save.disabled = !n;
}

// A group of which some are not flagged is looked at before all of it is marked.
function markAt(place, verdict) {
  if (place.matches("[data-mixed]") && !tables.get(place.closest("table").id).row(place).child.isShown()) toggle(place);
  else mark(place, verdict);
}

function mark(place, verdict) {
  const names = namesAt(place);
  const isUndone = names.every((name) => verdicts.get(name) === verdict);
  for (const name of names) {
    if (isUndone) verdicts.delete(name);
    else verdicts.set(name, verdict);
  }
  show();
  try {
    localStorage.setItem(key, JSON.stringify({ page, verdicts: Object.fromEntries(verdicts) }));
  } catch {} // a page in a frame has no storage
}

if (save) {
  document.documentElement.classList.add("marks");
  try {
    const kept = JSON.parse(localStorage.getItem(key)) ?? {};
    const before = Object.entries(kept.verdicts ?? {});
    const names = new Set(nameOf.values());
    verdicts = new Map([...before, ...(kept.page === page ? [] : given)].filter(([name]) => names.has(name)));
  } catch {}
  show();
  for (const each of tables.values()) each.on("draw.dt", show);
  document.querySelector("main").addEventListener("keydown", (event) => {
    const place = event.target.closest("[data-graphs]");
    const verdict = { a: "anomaly", n: "normal" }[event.key.toLowerCase()];
    if (place && verdict && !event.ctrlKey && !event.metaKey && !event.altKey) markAt(place, verdict);
  });
  save.addEventListener("click", () => {
    const isFormula = new RegExp(formula);
    const inert = (text) => (isFormula.test(text) ? `'${text}` : text);
    const quoted = (text) => (/[";,\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const ranked = articles.map((x) => [nameOf.get(x.dataset.graph), Number(x.dataset.rank)]).sort((x, y) => x[1] - y[1]);
    const marked = ranked.filter(([name]) => verdicts.has(name));
    const others = ranked.filter(([name]) => !verdicts.has(name));
    const rows = [...marked, ...others].map(([name, rank]) => `${quoted(inert(name))},${verdicts.get(name) ?? ""},${rank}`);
    download(["graph,verdict,rank", ...rows, ""].join("\n"), "verdicts.csv");
  });
}

addEventListener("beforeprint", () => {
  document.documentElement.classList.remove("dark"); // which is the table's own
  for (const fold of folds) fold.open = true;
  table.page.len(-1).draw();
});
addEventListener("afterprint", () => {
  paint();
  table.page.len(25).draw();
});
