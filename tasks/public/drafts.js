/** @returns {Record<string, Record<string, string>>} what was typed in this tab and not saved, by where it was typed */
export function drafts() {
  try {
    return JSON.parse(sessionStorage.getItem('drafts') ?? '{}');
  } catch {
    // A browser that forbids storage keeps nothing.
    return {};
  }
}

/** @param {string} place @param {Record<string, string | undefined>} [values] */
export function storeDraft(place, values) {
  try {
    sessionStorage.setItem('drafts', JSON.stringify({ ...drafts(), [place]: values }));
  } catch {
    // It is lost on reload, as it would be without this.
  }
}
