// The table is DataTables. Ours: dark mode, opening a row, one filter, and printing.
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark", dark.matches);
dark.addEventListener("change", paint);
paint();

const library = document.getElementById("library").textContent;
const { default: DataTable } = await import(`data:text/javascript;base64,${library}`);

const table = new DataTable("#graphs", {
  order: [], // as they are: the oddest first
  autoWidth: false,
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
    for (const image of details.querySelectorAll("img[data-picture]")) {
      image.src = document.getElementById(image.dataset.picture).src;
    }
    row.child() ? row.child.show() : row.child(details, "opened").show();
  }
  line.querySelector("button").setAttribute("aria-expanded", String(!shown));
}

document.querySelector("#graphs tbody").addEventListener("click", (event) => {
  const line = event.target.closest("tr[data-details]");
  if (line) toggle(line);
});

document.getElementById("verdict").addEventListener("change", (event) => {
  table.column(1).search(event.target.value).draw();
});

addEventListener("beforeprint", () => {
  document.documentElement.classList.remove("dark"); // which is the table's own
  table.page.len(-1).draw();
});
addEventListener("afterprint", () => {
  paint();
  table.page.len(25).draw();
});
