const notice = /** @type {HTMLElement} */ (document.getElementById('notice'));

/** Milliseconds that a complaint stays at least: enough to read it. */
const readable = 5_000;

/** From when on the complaint that is shown no longer holds if the server answers. */
let passesAt = Infinity;

/** @param {(Node | string)[]} nodes */
function tell(...nodes) {
  passesAt = Infinity;
  notice.replaceChildren(...nodes);
}

/**
 * Says what happened; screen readers announce it, because the notice is a live region. A title in it cannot change
 * the direction of the text around it.
 *
 * @param {string} text
 * @param {string} [title]
 */
export function say(text, title) {
  tell(text);
  if (title === undefined) return;
  notice.append(': ', Object.assign(document.createElement('bdi'), { textContent: title }));
}

/**
 * Says what went wrong, visibly, until it is closed or something else is said.
 *
 * @param {string} text
 * @param {boolean} [passing] whether that is over once the server answers again
 */
export function complain(text, passing = false) {
  const close = Object.assign(document.createElement('button'), { textContent: 'Close' });
  close.onclick = () => {
    say('');
    document.getElementById('title')?.focus({ preventScroll: true });
  };
  tell(text, ' ', close);
  if (passing) passesAt = performance.now() + readable;
}

/** Takes back a complaint that no longer holds, because the server answers again. */
export function recovered() {
  if (performance.now() > passesAt) say('');
}

/**
 * Says what others did, unless the notice has something to press, such as Undo, or Close after what went wrong.
 *
 * @param {string} text
 */
export function mention(text) {
  if (!notice.querySelector('a, button')) say(text);
}

/**
 * Adds a link to the notice, before its button.
 *
 * @param {string} text
 * @param {string} href
 * @param {string} [target] the tab, by default this one
 */
export function offer(text, href, target = '') {
  const link = Object.assign(document.createElement('a'), { textContent: text, href, target });
  const close = notice.querySelector('button');
  if (close) close.before(link, ' ');
  else notice.append(' ', link);
}

/**
 * Shows the notice of `page`, such as a deleted task with its Undo button. Returns whether it has one.
 *
 * @param {Document} page
 */
export function takeNotice(page) {
  const nodes = page.getElementById('notice')?.childNodes;
  if (!nodes?.length) return false;
  tell(...nodes);
  return true;
}
