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
  notice.classList.remove('wrong');
  notice.replaceChildren(text);
  if (title === undefined) return;
  const isolated = document.createElement('bdi');
  isolated.textContent = title;
  notice.append(': ', isolated);
}

/**
 * Says what went wrong, visibly.
 *
 * @param {string} text
 */
export function complain(text) {
  say(text);
  notice.classList.add('wrong');
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
 * Adds a link to the notice.
 *
 * @param {string} text
 * @param {string} href
 */
export function offer(text, href) {
  const link = document.createElement('a');
  link.textContent = text;
  link.href = href;
  notice.append(' ', link);
}

/**
 * Shows the notice of `page`, such as a deleted task with its Undo button. Returns whether it has one.
 *
 * @param {Document} page
 */
export function takeNotice(page) {
  const nodes = page.getElementById('notice')?.childNodes;
  if (!nodes?.length) return false;
  notice.classList.remove('wrong');
  notice.replaceChildren(...nodes);
  return true;
}
