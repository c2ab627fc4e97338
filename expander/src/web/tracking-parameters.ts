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

/** Max parameters to examine. Real links have fewer than 50 parameters. */
const maxPairs = 1_000;

/** Removes and returns tracking parameters. All other characters remain unchanged. */
export function withoutTracking(url: string) {
  const [, page = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(url) ?? [];
  const parameters: Record<'name' | 'value' | 'owner', string>[] = [];
  const pairs = query.split('&', maxPairs);
  const kept = pairs.filter((pair) => {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const owner = ownerOf(name.toLowerCase());
    if (owner) parameters.push({ name, value, owner });
    return !owner;
  });
  if (parameters.length === 0) return { cleaned: url, parameters };
  const rest = query.slice(pairs.join('&').length);
  const left = kept.join('&') + rest;
  return { cleaned: page + (kept.length > 0 || rest ? `?${left}` : '') + fragment, parameters };
}

const ownerOf = (name: string) =>
  owners.get(name) ?? owners.get(`${prefixes.find((prefix) => name.startsWith(prefix))}*`);
