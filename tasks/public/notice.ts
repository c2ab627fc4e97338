const notice = document.getElementById('notice') as HTMLElement;

/** Milliseconds that a complaint stays at least: enough to read it. */
const readable = 5_000;

/** From when on the complaint that is shown no longer holds if the server answers. */
let passesAt = Infinity;

function tell(...nodes: (Node | string)[]) {
  passesAt = Infinity;
  notice.replaceChildren(...nodes);
}

/**
 * Says what happened; screen readers announce it, because the notice is a live region. A title in it cannot change
 * the direction of the text around it.
 */
export function say(text: string, title?: string) {
  tell(text);
  if (title === undefined) return;
  notice.append(': ', Object.assign(document.createElement('bdi'), { textContent: title }));
}

/**
 * Says what went wrong, visibly, until it is closed or something else is said.
 *
 * @param passing whether that is over once the server answers again
 */
export function complain(text: string, passing = false) {
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

/** Says what others did, unless the notice has something to press, such as Undo, or Close after what went wrong. */
export function mention(text: string) {
  if (!notice.querySelector('a, button')) say(text);
}

/**
 * Adds a link to the notice, before its button.
 *
 * @param target the tab, by default this one
 */
export function offer(text: string, href: string, target = '') {
  const link = Object.assign(document.createElement('a'), { textContent: text, href, target });
  const close = notice.querySelector('button');
  if (close) close.before(link, ' ');
  else notice.append(' ', link);
}

/** Shows the notice of `page`, such as a deleted task with its Undo button. Returns whether it has one. */
export function takeNotice(page: Document) {
  const nodes = page.getElementById('notice')?.childNodes;
  if (!nodes?.length) return false;
  tell(...nodes);
  return true;
}
