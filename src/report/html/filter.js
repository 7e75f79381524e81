// Shows the findings that fit what is asked for. The page is whole without it.
(() => {
  const form = document.querySelector("form.filter");
  const articles = [...document.querySelectorAll("main article")];
  const entries = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a.parentElement]));
  const { text, file, rule, level } = form.elements;
  const shown = form.querySelector("output");
  let words = null;

  const apply = () => {
    const asked = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (asked.length) words ??= articles.map((article) => article.textContent.toLowerCase());
    let count = 0;
    articles.forEach((article, index) => {
      const fits = (select, key) => !select.value || select.value === article.dataset[key];
      const is = fits(file, "file") && fits(rule, "rule") && fits(level, "level") && asked.every((word) => words[index].includes(word));
      article.hidden = !is;
      const entry = entries.get(article.id);
      if (entry) entry.hidden = !is;
      count += is;
    });
    for (const group of document.querySelectorAll("main section, nav ol")) {
      group.hidden = !group.querySelector(":scope > article:not([hidden]), :scope > li:not([hidden])");
      if (group.matches("ol")) group.previousElementSibling.hidden = group.hidden;
    }
    const all = count === articles.length;
    shown.textContent = all ? `${count} findings` : `${count} of ${articles.length} findings`;
    form.querySelector("button").disabled = all && !text.value;
  };

  // A link to what is not shown shows all.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.closest("[hidden]")) {
      form.reset();
      apply();
      target.scrollIntoView();
    }
  };

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  document.addEventListener("click", (event) => event.target.closest?.('a[href^="#"]') && setTimeout(reveal));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      text.focus();
    } else if (event.key === "Escape" && form.contains(event.target)) {
      form.reset();
      apply();
    }
  });
  window.addEventListener("hashchange", reveal);
  // What a browser kept of an earlier visit.
  apply();
  reveal();
})();
