const notice = document.getElementById('notice') as HTMLElement;

/** Time from which a server response removes the error message: after 5 s, so that it can be read. */
let passesAt = Infinity;

export const make = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  as: Partial<HTMLElementTagNameMap[Name]>,
) => Object.assign(document.createElement(name), as);

/** Shows and announces a message (live region), below an error message. Isolates the title's text direction. */
export function say(text: string, title?: string, link?: Partial<HTMLAnchorElement>) {
  notice.replaceChildren(...notice.querySelectorAll('.complaint'), text);
  if (title !== undefined) notice.append(': ', make('bdi', { textContent: title }));
  if (link) notice.append(' ', make('a', link));
}

/** Removes the error message if it is about the task. */
export function endComplaint(title = '') {
  const complaint = notice.querySelector('.complaint');
  if (complaint?.textContent?.includes(title)) complaint.remove();
}

/** Shows an error until the user closes it. If `passes`, the next response removes the error too. Keeps Undo. */
export function complain(text: string, passes = false, link?: Partial<HTMLAnchorElement>) {
  endComplaint();
  const onclick = () => [endComplaint(), document.getElementById('list')?.focus({ preventScroll: true })];
  const close = make('button', { textContent: 'Close', onclick });
  const complaint = make('p', { className: 'complaint' });
  complaint.append(text, ' ', ...(link ? [make('a', link), ' '] : []), close);
  if (!notice.querySelector('form')) say('');
  notice.prepend(complaint);
  passesAt = passes ? performance.now() + 5_000 : Infinity;
}

/** Removes a temporary error message when the server responds again. */
export function recovered() {
  if (performance.now() >= passesAt) endComplaint();
}

/** Announces changes by other users, unless the notice has a link or a button such as Undo. */
export function mention(text: string, link?: Partial<HTMLAnchorElement>) {
  if (!notice.querySelector('a, button')) say(text, undefined, link);
}
