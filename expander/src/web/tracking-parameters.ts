import { decode } from '@longhand/shared/percent-encoding.ts';

/**
 * Query parameters that identify a visitor or campaign, by owner. `*` marks a prefix. The list omits ambiguous names.
 */
const namesOf: Record<string, readonly string[]> = {
  'campaign statistics': ['utm_*'],
  Matomo: ['mtm_*', 'matomo_*', 'piwik_*', 'pk_*'],
  HubSpot: ['hsa_*', '_hsenc', '_hsmi', '__hs*', 'hsctatracking'],
  'Google Ads': ['gclid', 'gclsrc', 'dclid', 'gbraid', 'wbraid', 'gad_source', 'gad_campaignid'],
  'Google Shopping': ['srsltid'],
  'Google Analytics': ['_ga', '_gl'],
  Facebook: ['fbclid', 'fb_action_ids', 'fb_action_types'],
  Instagram: ['igsh', 'igshid'],
  'Microsoft Advertising': ['msclkid'],
  'X (Twitter)': ['twclid'],
  TikTok: ['ttclid'],
  LinkedIn: ['li_fat_id'],
  Pinterest: ['epik'],
  Reddit: ['rdt_cid'],
  Snapchat: ['sccid'],
  Yandex: ['yclid', 'ysclid', '_openstat'],
  Mailchimp: ['mc_cid', 'mc_eid'],
  Marketo: ['mkt_tok'],
  Klaviyo: ['_kx'],
  Vero: ['vero_id', 'vero_conv'],
  Omeda: ['oly_anon_id', 'oly_enc_id'],
  MailerLite: ['ml_subscriber', 'ml_subscriber_hash'],
  'Adobe Analytics': ['s_cid'],
  Impact: ['irclickid'],
  'Wicked Reports': ['wickedid'],
  Branch: ['_branch_match_id'],
};

const owners = new Map(
  Object.entries(namesOf).flatMap(([owner, names]) => names.map((name) => [name, owner] as const)),
);
const prefixes = [...owners.keys()].filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));

/** Maximum parameters to examine. Real links have fewer than 50 parameters. */
const maxPairs = 1_000;

type Parameter = Record<'name' | 'value' | 'owner', string>;

/** Removes and returns tracking parameters of the query and the fragment. All other characters remain unchanged. */
export function withoutTracking(url: string) {
  const [, page = '', query = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  const parameters: Parameter[] = [];
  const cleaned = page + cleanedPart(query, parameters) + cleanedHash(hash, parameters);
  return { cleaned, parameters };
}

/** Cleans a fragment. In single-page applications, it may have a query of its own, such as `#/page?utm_source=x`. */
function cleanedHash(hash: string, found: Parameter[]): string {
  const at = hash.indexOf('?');
  if (at === -1) return cleanedPart(hash, found);
  const cleaned = hash.slice(0, at) + cleanedPart(hash.slice(at), found);
  return cleaned === '#' ? '' : cleaned;
}

/** Cleans `?` or `#` and the parameters after it. @returns an empty string if no parameter is left. */
function cleanedPart(part: string, found: Parameter[]): string {
  const [mark = ''] = part;
  const text = part.slice(mark.length);
  const pairs = text.split('&', maxPairs);
  const kept = pairs.filter((pair) => {
    const [, name = '', equals = '', value = ''] = /^([^=]*)(=?)(.*)$/s.exec(pair) ?? [];
    const owner = ownerOf(decode(name).toLowerCase());
    // A word in a fragment is the name of a place on the page.
    if (!owner || (mark === '#' && equals === '')) return true;
    found.push({ name, value, owner });
    return false;
  });
  if (kept.length === pairs.length) return part;
  const rest = text.slice(pairs.join('&').length);
  return kept.length > 0 || rest ? mark + kept.join('&') + rest : '';
}

const ownerOf = (name: string) =>
  owners.get(name) ?? owners.get(`${prefixes.find((prefix) => name.startsWith(prefix))}*`);
