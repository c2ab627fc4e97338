/** What every expander calls itself in `CDN-Loop` (RFC 8586), on each request that it makes. */
export const cdnId = 'longhand';

/** Whether a `CDN-Loop` field names an expander: then the request was made to expand a URL, and must not expand another. */
export function isOwnRequest(cdnLoop = ''): boolean {
  const members = cdnLoop.replace(/"(?:[^"\\]|\\.)*"/g, '').split(',');
  return members.some((member) => member.split(';', 1)[0]?.trim().toLowerCase() === cdnId);
}
