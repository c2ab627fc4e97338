const notice = document.getElementById('notice') as HTMLElement;
// The notice moves when the focus leaves a menu or a form (see style.css), and would miss the click.
notice.onmousedown = (event) =>
  document.querySelector(':is(.lines, .editing, [open]) :focus') && event.preventDefault();

export const focusList = () =>
  notice.contains(document.activeElement) && document.getElementById('list')?.focus({ preventScroll: true });
export const make = <T extends keyof HTMLElementTagNameMap>(tag: T, as: Partial<HTMLElementTagNameMap[T]>) =>
  Object.assign(document.createElement(tag), as);

/** Shows and announces a message (live region), below an error message. Isolates the title's text direction. */
export function say(text: string, title?: string, link?: Partial<HTMLAnchorElement>) {
  const said = make('span', { textContent: text });
  if (title !== undefined) said.append(': ', make('bdi', { textContent: title }));
  notice.replaceChildren(...notice.querySelectorAll('.complaint'), said);
  if (link) notice.append(' ', make('a', link));
}

/** Removes errors that begin with `about`, because these tasks have changed since, and errors about no task. */
export function endComplaints(about: string) {
  for (const complaint of notice.querySelectorAll('.complaint:not(:has([href^="#"]))')) {
    const text = complaint.firstChild?.textContent ?? '';
    if (!text.startsWith('\u2068') || (about && text.startsWith(about))) complaint.remove();
  }
}

/** Shows an error until the user closes it, or if it `passes`, until the server responds again. Keeps Undo. */
export function complain(text: string, passes = false, link?: Partial<HTMLAnchorElement>) {
  [...notice.querySelectorAll('.complaint')].find((old) => old.firstChild?.textContent === text)?.remove();
  const complaint = make('p', { className: passes ? 'complaint passes' : 'complaint' });
  const close = make('button', { textContent: 'Close', onclick: () => [focusList(), complaint.remove()] });
  complaint.append(text, ' ', ...(link ? [make('a', link), ' '] : []), close);
  if (!notice.querySelector('form')) say('');
  notice.prepend(complaint);
}

/** Announces changes by other users, unless the notice has a link or a button such as Undo. Shows a link beside errors. */
export function mention(text: string, link?: Partial<HTMLAnchorElement>) {
  if (!notice.querySelector(link ? ':scope > :is(a, form)' : 'a, button')) say(text, undefined, link);
}
