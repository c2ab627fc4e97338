import { withoutEnd } from '@longhand/shared/url-end.ts';
import { html } from 'hono/html';

/** Well-known URL shorteners. */
const shorteners = new Set(
  'bit.ly buff.ly cutt.ly dlvr.it fb.me goo.gl is.gd lnkd.in ow.ly rb.gy rebrand.ly shorturl.at t.co t.ly tiny.cc tinyurl.com trib.al v.gd'.split(
    ' ',
  ),
);

/**
 * An http(s) URL in a sentence. White space, quotes, angle brackets, the punctuation of Chinese and Japanese, and
 * characters that nobody sees or that change the direction of the text end it. No host has more than 253 characters;
 * Node takes 150 µs to parse some longer ones.
 */
const urls =
  /(?<![\p{L}\p{N}])https?:\/\/(?![^/?#]{254})[^\s<>"'`“”«»\p{C}\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]+/giu;

/** Links in a title. A page of 100 tasks must not take longer than 10 ms. */
const maxLinks = 20;

type Html = ReturnType<typeof html>;

/** The title as HTML: its URLs are links, and those of a known shortener have one to the expander beside them. */
export function linked(title: string): string {
  const parts: (string | Html)[] = [];
  let end = 0;
  for (const { 0: found, index } of title.matchAll(urls).take(maxLinks)) {
    const text = withoutEnd(found);
    const url = URL.parse(text);
    // What stands in front of an @ only looks like a host.
    if (!url || url.username || url.password) continue;
    parts.push(title.slice(end, index), link(text, url));
    end = index + text.length;
  }
  return String(html`${parts}${title.slice(end)}`);
}

function link(text: string, { href, hostname, pathname }: URL): Html {
  // Left to right, whatever stands around it or in it.
  const anchor = html`<a dir="ltr" href="${href}" rel="noreferrer">${text}</a>`;
  if (pathname === '/' || !shorteners.has(hostname.replace(/^www\./, ''))) return anchor;
  const expand = `/expand?${new URLSearchParams({ u: href })}`;
  // The style has its text, so that the text of the title is the title.
  return html`${anchor}<a class="where" href="${expand}" aria-label="Where to? ${text}"></a>`;
}
