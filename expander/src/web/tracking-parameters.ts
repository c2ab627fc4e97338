/** A query parameter that identifies the visitor's origin, not the page. */
export interface TrackingParameter {
  /** Both as they are in the URL. */
  name: string;
  value: string;
  owner: string;
}

/** Names by owner, whole or up to a `*`. Names with another meaning elsewhere are left out. */
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

/** Removes the tracking parameters of a URL and leaves every other character as it is. */
export function withoutTracking(url: string): { cleaned: string; parameters: TrackingParameter[] } {
  const [, page = '', query, fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(url) ?? [];
  const parameters: TrackingParameter[] = [];
  const kept = query?.split('&').filter((pair) => {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const owner = ownerOf(name.toLowerCase());
    if (owner) parameters.push({ name, value, owner });
    return !owner;
  });
  if (!kept || parameters.length === 0) return { cleaned: url, parameters };
  return { cleaned: page + (kept.length > 0 ? `?${kept.join('&')}` : '') + fragment, parameters };
}

function ownerOf(name: string): string | undefined {
  const matches = (pattern: string) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  return Object.keys(namesOf).find((owner) => namesOf[owner]?.some(matches));
}
