const notice = document.getElementById('notice') as HTMLElement;

/** Milliseconds that a complaint stays at least: enough to read it. */
export const readable = 5_000;

/** When the shown complaint may go, once the server answers. */
let passesAt = Infinity;

type Link = Partial<HTMLAnchorElement> | undefined;

export const make = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  as: Partial<HTMLElementTagNameMap[Name]>,
) => Object.assign(document.createElement(name), as);

/**
 * Says what happened; screen readers announce it, because the notice is a live region. A title in it cannot change
 * the direction of the text around it.
 */
export function say(text: string, title?: string, link?: Link) {
  notice.replaceChildren(text);
  if (title !== undefined) notice.append(': ', make('bdi', { textContent: title }));
  if (link) notice.append(' ', make('a', link));
}

/**
 * Says what went wrong, visibly, until it is closed or something else is said. An Undo that is offered stays.
 *
 * @param passes milliseconds after which it is over once the server answers again; by default it is not
 * @param link what to do about it
 */
export function complain(text: string, passes = Infinity, link?: Link) {
  endComplaint();
  const close = make('button', { textContent: 'Close' });
  close.onclick = () => {
    endComplaint();
    document.getElementById('title')?.focus({ preventScroll: true });
  };
  const complaint = make('p', { className: 'complaint' });
  complaint.append(text, ' ', ...(link ? [make('a', link), ' '] : []), close);
  if (!notice.querySelector('form')) say('');
  notice.prepend(complaint);
  passesAt = performance.now() + passes;
}

function endComplaint() {
  notice.querySelector('.complaint')?.remove();
}

/** Takes back a complaint that no longer holds, because the server answers again. */
export function recovered() {
  if (performance.now() >= passesAt) endComplaint();
}

/** Says what others did, unless the notice has something to press, such as Undo, or Close after what went wrong. */
export function mention(text: string) {
  if (!notice.querySelector('a, button')) say(text);
}
