const notice = document.getElementById('notice') as HTMLElement;

/** Milliseconds to read a complaint. */
export const readable = 5_000;

/** When the complaint may go, once the server responds. */
let passesAt = Infinity;

type Link = Partial<HTMLAnchorElement> | undefined;

export const make = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  as: Partial<HTMLElementTagNameMap[Name]>,
) => Object.assign(document.createElement(name), as);

/** Shows and announces (a live region) what happened. The title is isolated, whatever its direction. */
export function say(text: string, title?: string, link?: Link) {
  notice.replaceChildren(text);
  if (title !== undefined) notice.append(': ', make('bdi', { textContent: title }));
  if (link) notice.append(' ', make('a', link));
}

/**
 * Shows a problem until it is closed or the next notice. An offered Undo stays.
 *
 * @param passes milliseconds after which it goes once the server responds again; by default it stays
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

/** The server responds again: removes a complaint that may go. */
export function recovered() {
  if (performance.now() >= passesAt) endComplaint();
}

/** Says what others did, unless the notice has a link or a button such as Undo. */
export function mention(text: string) {
  if (!notice.querySelector('a, button')) say(text);
}
