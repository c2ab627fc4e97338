// @ts-check

const notice = /** @type {HTMLElement} */ (document.getElementById('notice'));

/**
 * Says what happened; screen readers announce it, because the notice is a live region. A title in it cannot change
 * the direction of the text around it.
 *
 * @param {string} text
 * @param {string} [title]
 */
export function say(text, title) {
  notice.classList.remove('wrong', 'passing');
  notice.replaceChildren(text);
  if (title === undefined) return;
  const isolated = document.createElement('bdi');
  isolated.textContent = title;
  notice.append(': ', isolated);
}

/** Milliseconds that a complaint stays at least: enough to read it. */
const readable = 5_000;
let complainedAt = 0;

/**
 * Says what went wrong, visibly, until it is closed or something else is said.
 *
 * @param {string} text
 * @param {boolean} [passing] whether that is over once the server answers again
 */
export function complain(text, passing = false) {
  say(text);
  notice.classList.add('wrong');
  notice.classList.toggle('passing', passing);
  complainedAt = performance.now();
  const close = document.createElement('button');
  close.textContent = 'Close';
  close.onclick = () => {
    say('');
    document.getElementById('title')?.focus({ preventScroll: true });
  };
  notice.append(' ', close);
}

/** Takes back a complaint that no longer holds, because the server answers again. */
export function recovered() {
  if (notice.matches('.passing') && performance.now() - complainedAt > readable) say('');
}

/**
 * Says what others did, unless the notice tells what went wrong, or has something to press, such as Undo.
 *
 * @param {string} text
 */
export function mention(text) {
  if (!notice.matches('.wrong, :has(a, button)')) say(text);
}

/**
 * Adds a link to the notice, before its button.
 *
 * @param {string} text
 * @param {string} href
 * @param {string} [target] the tab, by default this one
 */
export function offer(text, href, target = '') {
  const link = document.createElement('a');
  link.textContent = text;
  link.href = href;
  link.target = target;
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
  notice.classList.remove('wrong', 'passing');
  notice.replaceChildren(...nodes);
  return true;
}
