// @ts-check

// The reader's own English, or British: the words round the times are English.
const languages = navigator.languages.filter((language) => /^en\b/.test(language)).concat('en-GB');
const format = (/** @type {Intl.DateTimeFormatOptions} */ options) =>
  new Intl.DateTimeFormat(languages, options);

const exact = format({ dateStyle: 'full', timeStyle: 'long' });
const clock = format({ timeStyle: 'short' });
const day = format({ day: 'numeric', month: 'short' });
const date = format({ dateStyle: 'medium' });

/**
 * Says each time below `root` in the reader's zone, as short as it is clear, and exactly on hover.
 *
 * @param {ParentNode} root
 */
export function localise(root) {
  const now = new Date();
  for (const time of root.querySelectorAll('time')) {
    const then = new Date(time.dateTime);
    const today = then.toDateString() === now.toDateString();
    const thisYear = then.getFullYear() === now.getFullYear();
    time.textContent = (today ? clock : thisYear ? day : date).format(then);
    time.title = exact.format(then);
  }
}

localise(document);
