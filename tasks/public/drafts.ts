/** @returns what was typed in this tab and not saved, by where it was typed */
export function drafts(): Record<string, Record<string, string>> {
  try {
    return JSON.parse(sessionStorage.getItem('drafts') ?? '{}');
  } catch {
    // A browser that forbids storage keeps nothing.
    return {};
  }
}

export function storeDraft(place: string, values?: Record<string, string | undefined>) {
  try {
    sessionStorage.setItem('drafts', JSON.stringify({ ...drafts(), [place]: values }));
  } catch {
    // It is lost on reload, as it would be without this.
  }
}
