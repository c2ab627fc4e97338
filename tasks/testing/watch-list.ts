/** What a page tells about itself. `time` in milliseconds since 1970. */
export type Note = { time: number } & (
  | { kind: 'ticked'; id: string; finished: 0 | 1 }
  | { kind: 'edited'; id: string; title: string }
  | { kind: 'undone'; id: string }
  | { kind: 'missed'; aimedAt: string; hit: string }
  | { kind: 'said'; text: string }
  | { kind: 'moved'; what: string }
);

/** What the other scripts use. */
const common = `
  window.aimedAt = undefined;
  const tell = (kind, fields) => note({ kind, time: Date.now(), ...fields });
  const idOf = (row) => row.id.replace('task-', '');
  const rows = () => [...document.querySelectorAll('.tasks > li')].filter((row) => row.checkVisibility());
  const stateOf = (row) => row.dataset.pending ?? (row.matches('.finished') ? 'finished' : 'open');
  const topOf = (row) => row.getBoundingClientRect().top;
  // Text that was not sent returns to the form.
  const heightOfForm = () => document.getElementById('title').form.offsetHeight;
  const isOpen = () => document.querySelector('.editing') !== null;
`;

const moves = (user: string) => `
  // Rows that this user has added or deleted, and rows that had only a form, which this user has sent. A row that goes with a
  // form is not among them.
  const deleted = new Set();
  const isOwn = (row) =>
    deleted.has(row.id) || !row.firstElementChild || JSON.parse(row.dataset.task ?? '{}').title?.startsWith('${user}');

  let touch;
  function look() {
    if (!touch || performance.now() - touch.time > 1_000) return;
    const now = rows();
    const came = now.filter((row) => !touch.rows.includes(row));
    const went = touch.rows.filter((row) => !now.includes(row));
    const isOwnText = heightOfForm() !== touch.height;
    if ([...came, ...went].some(isOwn) || isOpen() || isOwnText) touch.top = undefined;
    const kept = touch.rows.filter((row) => now.includes(row));
    const order = now.filter((row) => kept.includes(row));
    const names = (list) => list.map(({ id, innerText }) => id + ' ' + innerText.replace(/\\s+/g, ' ')).join(', ');
    const others = [...came, ...went].filter((row) => !isOwn(row));
    // In a list without rows, new rows move nothing.
    if (others.length > 0 && touch.rows.length > 0)
      tell('moved', { what: 'came or went: ' + names(others) + ' of ' + names(touch.rows) });
    if (kept.some((row, i) => row !== order[i])) tell('moved', { what: 'order: ' + names(kept) + ' to ' + names(order) });
    const by = touch.row?.isConnected && touch.top !== undefined ? topOf(touch.row) - touch.top : 0;
    if (Math.abs(by) > 2) tell('moved', { what: names([touch.row]) + ' by ' + by + ' px' });
    touch = { ...touch, rows: now, top: touch.row?.isConnected && touch.top !== undefined ? topOf(touch.row) : undefined };
  }
  new MutationObserver(look).observe(document.body, { attributes: true, childList: true, characterData: true, subtree: true });

  addEventListener('pointerdown', ({ target }) => {
    const row = target.closest('.tasks > li');
    touch = { time: performance.now(), rows: rows(), row, height: heightOfForm(), top: row && !isOpen() ? topOf(row) : undefined };
  }, true);
  // What this user does without a pointer may move rows: a click by the test, for example on Show.
  for (const type of ['visibilitychange', 'submit', 'input']) addEventListener(type, () => { touch = undefined; }, true);
`;

const ticks = `
  let before;
  addEventListener('click', ({ target, isTrusted }) => {
    if (!isTrusted) touch = undefined;
    const row = target.closest('.tasks > li');
    before = row && stateOf(row);
    if (row && target.closest('.actions button')) deleted.add(row.id);
  }, true);
  addEventListener('click', ({ target, detail }) => {
    const row = target.closest('.toggle')?.closest('.tasks > li');
    // The page ignores the second click of a double click.
    if (!row || detail > 1) return;
    if (aimedAt !== idOf(row)) tell('missed', { aimedAt, hit: idOf(row) });
    tell('ticked', { id: idOf(row), finished: before === 'finished' ? 0 : 1 });
  });

  addEventListener('submit', ({ target }) => {
    const { action } = target;
    const [, id] = new URL(action).pathname.match(/^\\/tasks\\/(\\d+)$/) ?? [];
    if (!target.closest('#notice') || !id || target.noted) return;
    target.noted = true;
    const data = new FormData(target);
    if (data.has('finished')) tell('ticked', { id, finished: Number(data.get('finished')) });
    else tell('undone', { id });
  });
`;

const messages = `
  // The same error again is a new element with the same text.
  const said = new WeakMap();
  new MutationObserver(() => {
    for (const message of document.querySelectorAll('#notice > span, .complaint > span')) {
      const text = message.textContent;
      if (text && said.get(message) !== text) tell('said', { text });
      said.set(message, text);
    }
  }).observe(document.getElementById('notice'), { childList: true, subtree: true });
`;

/**
 * Runs in each page of a user before the page's own scripts, and calls `note` with a `Note`. A row has moved if, within a second
 * after a touch, it stands elsewhere on the screen, or rows come, go or change their order. Rows that this user adds or deletes
 * may do so, and text of this user in a form. `aimedAt` is the task whose circle the user is about to tap.
 *
 * @param user begins the titles of this user's tasks
 */
export const watchList = (user: string) =>
  `addEventListener('DOMContentLoaded', () => {${common}${moves(user)}${ticks}${messages}});`;
