// The table is DataTables. Ours: dark mode, opening a row, one filter, verdicts, and printing.
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark", dark.matches);
dark.addEventListener("change", paint);
paint();

const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (x) => x.charCodeAt(0));
const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
const { library, pictures } = await new Response(unpacked).json();
const { default: DataTable } = await import(`data:text/javascript,${encodeURIComponent(library)}`);

function draw(part) {
  for (const image of part.querySelectorAll("img[data-picture]")) {
    image.src = `data:image/svg+xml,${encodeURIComponent(pictures[image.dataset.picture])}`;
  }
}
draw(document.querySelector(".pictures"));

const table = new DataTable("#graphs", {
  order: [], // as they are: the oddest first
  autoWidth: false,
  columnDefs: [{ targets: "mine", orderable: false, searchable: false }],
  pageLength: 25,
  layout: { topStart: document.querySelector(".tools"), topEnd: "search", bottomStart: "info", bottomEnd: "paging" },
  language: { search: "Filter", info: "_START_ to _END_ of _TOTAL_ graphs", infoFiltered: "(_MAX_ in all)", infoEmpty: "", zeroRecords: "No graph matches." },
});

function toggle(line) {
  const row = table.row(line);
  const shown = row.child.isShown();
  if (shown) {
    row.child.hide();
  } else {
    const details = document.getElementById(line.dataset.details) ?? row.child()[0];
    draw(details);
    row.child() ? row.child.show() : row.child(details, "opened").show();
  }
  line.querySelector("button").setAttribute("aria-expanded", String(!shown));
}

const body = document.querySelector("#graphs tbody");
body.addEventListener("click", (event) => {
  const line = event.target.closest("tr[data-details]");
  const button = event.target.closest("button.mark");
  if (button) mark(line, button.value);
  else if (line && !event.target.closest("td.mine")) toggle(line);
});

document.getElementById("verdict").addEventListener("change", (event) => {
  table.column(1).search(event.target.value).draw();
});

// Verdicts are kept in the browser, by the names of the graphs.
const key = `skgraphkde ${location.pathname}`;
const save = document.getElementById("save");
const lines = table.rows().nodes().toArray();
const nameOf = new Map(lines.map((line) => [line, document.querySelector(`#${line.dataset.details} h3`).textContent]));
let verdicts = {};

function show(line) {
  const verdict = verdicts[nameOf.get(line)];
  for (const button of line.querySelectorAll("button.mark")) {
    button.setAttribute("aria-pressed", String(button.value === verdict));
  }
}

function count() {
  const n = Object.keys(verdicts).length;
  save.textContent = n ? `Save ${n} verdict${n > 1 ? "s" : ""}` : "Save verdicts";
  save.disabled = !n;
}

function mark(line, verdict) {
  const name = nameOf.get(line);
  if (verdicts[name] === verdict) delete verdicts[name];
  else verdicts[name] = verdict;
  show(line);
  count();
  try {
    localStorage.setItem(key, JSON.stringify(verdicts));
  } catch {} // a page in a frame has no storage
}

if (save) {
  document.documentElement.classList.add("marks");
  try {
    const kept = JSON.parse(localStorage.getItem(key)) ?? {};
    const names = new Set(nameOf.values());
    verdicts = Object.fromEntries(Object.entries(kept).filter(([name]) => names.has(name)));
  } catch {}
  lines.forEach(show);
  count();
  body.addEventListener("keydown", (event) => {
    const line = event.target.closest("tr[data-details]");
    const verdict = { a: "anomaly", n: "normal" }[event.key.toLowerCase()];
    if (line && verdict && !event.ctrlKey && !event.metaKey && !event.altKey) mark(line, verdict);
  });
  save.addEventListener("click", () => {
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const rows = Object.entries(verdicts).map(([name, verdict]) => `${quoted(name)},${verdict}`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([["graph,verdict", ...rows, ""].join("\n")], { type: "text/csv" }));
    link.download = "verdicts.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

addEventListener("beforeprint", () => {
  document.documentElement.classList.remove("dark"); // which is the table's own
  table.page.len(-1).draw();
});
addEventListener("afterprint", () => {
  paint();
  table.page.len(25).draw();
});
