// What the page can do beyond being read: one section at a time, stepping through runs, themes, downloads.
// Everything that it shows is in the page already, or in the two documents inside it. It fetches nothing.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);
  const parsed = (id) => JSON.parse(document.getElementById(id).textContent);
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  document.documentElement.classList.add("js");
  one(".tools").hidden = false;

  // --- Themes: as the system says, or one of the two.
  const themes = ["auto", "light", "dark"];
  const themeButton = document.getElementById("theme");
  const remembered = () => {
    try { return localStorage.getItem("piecewise-theme") || "auto"; } catch { return "auto"; }
  };
  const setTheme = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    themeButton.textContent = `theme: ${theme}`;
    try { localStorage.setItem("piecewise-theme", theme); } catch { /* nowhere to remember it */ }
  };
  let theme = themes.includes(remembered()) ? remembered() : "auto";
  setTheme(theme);
  themeButton.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    setTheme(theme);
  });

  // --- Downloads: documents of the page as files.
  for (const link of all("a[data-file]")) {
    const text = document.getElementById(link.dataset.file).textContent;
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const holder = link.closest(".download");
    if (holder) holder.hidden = false;
  }

  // --- One section and one panel at a time, by the address.
  const sections = all(".overview, .run");
  // Of each section, what needs a look most; the first of those that are alike.
  const urgency = (panel) => Number(panel.dataset.urgency || 0);
  const mostUrgent = (panels) => panels.reduce((best, panel) => (best && urgency(best) >= urgency(panel) ? best : panel), null);
  const panelOf = new Map(sections.map((section) => [section, mostUrgent(all(".panel", section))]));
  const titleOf = (panel) => panel && one("h3", panel) ? one("h3", panel).textContent : "";

  const show = (section, panel, focus) => {
    for (const other of sections) other.classList.toggle("current", other === section);
    for (const link of all(".instances a")) {
      if (link.hash === `#${section.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    if (panel) {
      panelOf.set(section, panel);
      for (const other of all(".panel", section)) other.classList.toggle("current", other === panel);
      for (const link of all(".properties a", section)) {
        if (link.hash === `#${panel.id}`) {
          link.setAttribute("aria-current", "true");
          const row = link.closest("ul");
          row.scrollLeft = link.offsetLeft - row.offsetLeft - 16;
        } else link.removeAttribute("aria-current");
      }
    }
    for (const player of players.values()) {
      if (player.panel !== panel) player.stop();
      else player.reveal();
    }
    if (focus) (panel || section).focus({ preventScroll: true });
  };

  const current = () => {
    const section = sections.find((candidate) => candidate.classList.contains("current"));
    return { section, panel: section && panelOf.get(section) };
  };

  // Of another instance, the panel of the same property is shown.
  const sameProperty = (section) => {
    const before = current().panel;
    const wanted = before && one(".properties a[aria-current] .name", before.closest(".run"));
    const link = wanted && all(".properties a", section).find((other) => one(".name", other).textContent === wanted.textContent);
    return link ? document.getElementById(link.hash.slice(1)) : panelOf.get(section);
  };

  const route = (focus) => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const panel = target && target.closest(".panel");
    const section = target && target.closest(".overview, .run");
    if (panel && section) show(section, panel, focus);
    else if (section) show(section, sameProperty(section), focus);
    else if (!current().section && sections.length) show(sections[0], panelOf.get(sections[0]), false);
    if (focus && section) window.scrollTo(0, 0);
  };

  // --- Stepping through runs.
  class Player {
    constructor(root, film) {
      this.root = root;
      this.film = film;
      this.panel = root.closest(".panel");
      this.last = film.first + film.steps.length;
      this.bar = one(".player", root);
      this.slider = one("input[type=range]", this.bar);
      this.only = one(".only", this.bar);
      this.cursor = one(".cursor", root);
      this.rows = new Map(all(".stand .row", root).map((row) => [Number(row.dataset.line), row]));
      this.values = one(".values", root);
      this.timer = 0;
      this.triangle = one("[data-do=play] path", this.bar).getAttribute("d");
      for (const part of [this.bar, one(".stand", root), this.values]) part.hidden = false;
      one(".all-steps", root).open = false;
      this.cursor.classList.add("on");
      this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
      this.only.addEventListener("change", () => this.draw());
      this.bar.addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (button) this.act(button.dataset.do);
      });
      one(".lanes", root).addEventListener("click", (event) => {
        const box = one(".lanes", root).getBoundingClientRect();
        this.stop();
        this.go(film.first + Math.floor((event.clientX - box.left) / film.column));
      });
      for (const row of all(".steps tr[data-step]", root)) {
        row.addEventListener("click", () => this.go(Number(row.dataset.step)));
      }
      // What stands in a bar stays in view as long as the bar does.
      this.box = one(".chart .scroll", root);
      this.bars = all(".lanes .stay, .lanes .value, .lanes .turn", root).map((group) => {
        const [rect, text] = [one("rect", group), one("text", group)];
        return { text, left: Number(rect.getAttribute("x")), room: Number(rect.getAttribute("width")), home: Number(text.getAttribute("x")) };
      });
      this.box.addEventListener("scroll", () => this.keepTexts(), { passive: true });
      window.addEventListener("resize", () => this.reveal(), { passive: true });
      // The end is what the run is about.
      this.at = this.last;
      this.draw();
    }

    act(action) {
      if (action === "play") return this.timer ? this.stop() : this.play();
      this.stop();
      const targets = { first: this.film.first, back: this.at - 1, next: this.at + 1, last: this.last };
      return this.go(targets[action]);
    }

    go(step) {
      this.at = Math.max(this.film.first, Math.min(this.last, step));
      this.draw();
      this.reveal();
    }

    // A run that goes round is played round.
    play() {
      if (this.at === this.last && this.film.loop === null) this.go(this.film.first);
      this.face("M3 2h4v12H3z M9 2h4v12H9z", "pause (space)");
      this.timer = setInterval(() => {
        const round = this.film.loop === null ? this.last : Math.max(this.film.loop, this.film.first);
        if (this.at < this.last) this.go(this.at + 1);
        else if (this.film.loop === null) this.stop();
        else this.go(round + 1);
      }, 900);
    }

    stop() {
      if (!this.timer) return;
      clearInterval(this.timer);
      this.timer = 0;
      this.face(this.triangle, "play (space)");
    }

    face(shape, words) {
      const button = one("[data-do=play]", this.bar);
      one("path", button).setAttribute("d", shape);
      button.title = words;
      button.setAttribute("aria-label", words);
    }

    // On paper nothing is scrolled: the words stand where their bars begin.
    keepTexts(edge = this.box.scrollLeft) {
      for (const bar of this.bars) {
        let x = bar.home;
        if (edge > bar.left && edge < bar.left + bar.room) {
          bar.length ||= bar.text.getComputedTextLength();
          x = Math.max(bar.home, Math.min(edge + 7, bar.left + bar.room - bar.length - 7));
        }
        if (bar.now !== x) bar.text.setAttribute("x", bar.now = x);
      }
    }

    // Keeps the current column in view.
    reveal() {
      const box = this.box;
      const left = (this.at - this.film.first) * this.film.column;
      if (left < box.scrollLeft) box.scrollLeft = left - this.film.column;
      else if (left + this.film.column > box.scrollLeft + box.clientWidth) {
        box.scrollLeft = left + 2 * this.film.column - box.clientWidth;
      }
      this.keepTexts();
    }

    draw() {
      const index = this.at - this.film.first;
      const step = index > 0 ? this.film.steps[index - 1] : null;
      this.slider.value = this.at;
      this.slider.setAttribute("aria-valuetext", `step ${this.at} of ${this.last}`);
      this.cursor.style.transform = `translateX(${index * this.film.column}px)`;
      this.tell(step);
      this.stand(index, step);
      this.list(index);
      for (const row of all(".steps tr[data-step]", this.root)) {
        row.classList.toggle("now-row", Number(row.dataset.step) === this.at);
      }
    }

    tell(step) {
      const now = one(".now", this.bar);
      now.replaceChildren(make("strong", step ? `step ${this.at} of ${this.last}` : this.film.first ? `after step ${this.at}` : "start"));
      if (step) {
        now.append(step.went);
        if (step.statement) now.append(" · ", make("code", step.statement), make("span", ` line ${step.line}`, "dim"));
        if (step.reads.length) now.append(make("span", ` · ${step.reads.join(", ")}`, "dim"));
      }
      if (this.at === this.last && this.film.ending) now.append(" · ", make("strong", this.film.ending));
    }

    stand(index, step) {
      for (const row of this.rows.values()) {
        row.classList.remove("here", "moved");
        const chips = one(".chips", row);
        if (chips) chips.remove();
      }
      this.film.lines[index].forEach((line, process) => {
        const row = this.rows.get(line);
        if (!row) return;
        row.classList.add("here");
        let chips = one(".chips", row);
        if (!chips) row.append(chips = make("span", undefined, "chips"));
        chips.append(make("span", this.film.processes[process], step && step.by === process ? "chip mover" : "chip"));
      });
      const moved = step && this.rows.get(step.line);
      if (moved) moved.classList.add("moved");
      const first = one(".row.here", this.root);
      if (first) this.scrollListing(one(".stand .code", this.root), moved || first);
    }

    // Scrolls the listing only, never the page.
    scrollListing(box, row) {
      const top = row.offsetTop - box.offsetTop;
      if (top < box.scrollTop || top + row.offsetHeight > box.scrollTop + box.clientHeight) {
        box.scrollTop = top - box.clientHeight / 2;
      }
    }

    // At the end everything is listed: that is the state the run is about.
    list(index) {
      const some = this.only.checked && index > 0 && this.at !== this.last;
      const body = one("tbody", this.values);
      body.replaceChildren();
      let rows = 0;
      for (const variable of this.film.variables) {
        const position = variable.values.findLastIndex(([since]) => since <= index);
        const [since, value] = variable.values[position];
        const changed = since === index && position > 0;
        if (value === "" || (some && !changed)) continue;
        const row = make("tr", undefined, changed ? "changed" : "");
        const head = make("th", variable.of === null ? variable.name : `${variable.of}.${variable.name}`);
        head.scope = "row";
        const cell = make("td");
        const before = changed ? variable.values[position - 1][1] : "";
        if (before !== "") cell.append(make("del", before), " ⇒ ");
        cell.append(changed ? make("ins", value) : value);
        row.append(head, cell);
        body.append(row);
        rows += 1;
      }
      one(".empty", this.values).hidden = rows > 0;
      one("table", this.values).hidden = rows === 0;
    }
  }

  const players = new Map();
  const films = parsed("page").traces;
  for (const root of all(".trace")) players.set(root.dataset.trace, new Player(root, films[root.dataset.trace]));

  // --- Tables of many programs: filtered by words, sorted by a column.
  for (const box of all(".many")) {
    const body = one("tbody", box);
    const rows = all("tr", body);
    const input = one("input", box);
    const tally = one(".tally", box);
    const filter = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        if (!row.hidden) shown += 1;
      }
      tally.textContent = `${shown} of ${rows.length}`;
    };
    one(".filter", box).hidden = false;
    input.addEventListener("input", filter);
    filter();
    for (const button of all("thead button", box)) {
      button.disabled = false;
      button.addEventListener("click", () => {
        const column = button.closest("th").cellIndex;
        const down = button.closest("th").getAttribute("aria-sort") === "ascending";
        for (const head of all("thead th", box)) head.removeAttribute("aria-sort");
        button.closest("th").setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent;
        rows.sort((one, other) => key(one).localeCompare(key(other), undefined, { numeric: true }) * (down ? -1 : 1));
        body.append(...rows);
      });
    }
  }

  // --- Keys: of the run in view, except where a control has its own use for them.
  const actions = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
  document.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    const { panel } = current();
    const player = panel && players.get(panel.id);
    if (!action || !player || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const target = event.target;
    if (target.closest("select, textarea, [contenteditable]")) return;
    if (event.key === " " && target.closest("button, a, summary, input, .code, .wide")) return;
    if (event.key !== " " && target.closest(".code, .wide, .graph")) return;
    event.preventDefault();
    player.act(action);
  });

  // --- On paper everything is open.
  const opened = [];
  window.addEventListener("beforeprint", () => {
    for (const player of players.values()) player.keepTexts(0);
    for (const details of all("details:not([open])")) {
      details.open = true;
      opened.push(details);
    }
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened.splice(0)) details.open = false;
    for (const player of players.values()) player.keepTexts();
  });

  window.addEventListener("hashchange", () => route(true));
  route(false);
})();
