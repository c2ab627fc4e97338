// @ts-check

const notice = /** @type {HTMLElement} */ (document.getElementById('notice'));

/**
 * Says what happened, to those who listen as well: the notice is a live region. A title in it cannot turn
 * the text round it.
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
 * Says what went wrong, for everybody to see.
 *
 * @param {string} text
 */
export function complain(text) {
  say(text);
  notice.classList.add('wrong');
}

/**
 * Takes over the notice of `page`, such as a deleted task with its Undo. Returns whether there is one.
 *
 * @param {Document} page
 */
export function takeNotice(page) {
  const news = page.getElementById('notice')?.childNodes;
  if (!news?.length) return false;
  notice.classList.remove('wrong');
  notice.replaceChildren(...news);
  return true;
}
