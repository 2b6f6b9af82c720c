(() => {
  "use strict";
  const form = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const statements = [...document.querySelectorAll(".statement")];
  const texts = new Map(statements.map(s => [s, (s.id + " " + s.textContent).toLowerCase()]));
  const groups = [...document.querySelectorAll(".clause"), ...document.querySelectorAll(".rfc")];
  const apply = () => {
    const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = s =>
      words.every(word => texts.get(s).includes(word)) &&
      (!form.level.value || s.dataset.level.split(" ")[0] === form.level.value) &&
      (!form.verdict.value || s.dataset.verdict === form.verdict.value);
    let count = 0;
    for (const s of statements) { s.hidden = !fits(s); count += !s.hidden; }
    for (const group of groups) group.hidden = !group.querySelector(".statement:not([hidden])");
    shown.textContent = count + " of " + statements.length;
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", event => event.preventDefault());
  apply();

  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  dark.addEventListener("change", label);
  label();
})();
