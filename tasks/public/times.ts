// The user's variety of English, or British English.
const languages = navigator.languages.filter((language) => /^en\b/.test(language)).concat('en-GB');

/** Formats a time in the user's time zone: the time of day if it is today, else the date. */
export function local(iso: string) {
  const time = new Date(iso);
  const isToday = time.toDateString() === new Date().toDateString();
  return time.toLocaleString(languages, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium' });
}

for (const time of document.querySelectorAll('time')) time.textContent = local(time.dateTime);
