/** A query parameter that says where a visitor comes from, not which page is meant. */
export interface TrackingParameter {
  /** Both as they stand in the URL. */
  name: string;
  value: string;
  /** Whose it is. */
  owner: string;
}

/** Names, whole or up to a `*`, and whose they are. Names that mean something else elsewhere are left out. */
const owners: readonly (readonly [name: string, owner: string])[] = [
  ['utm_*', 'campaign statistics'],
  ['mtm_*', 'Matomo'],
  ['matomo_*', 'Matomo'],
  ['piwik_*', 'Matomo'],
  ['pk_*', 'Matomo'],
  ['hsa_*', 'HubSpot'],
  ['_hsenc', 'HubSpot'],
  ['_hsmi', 'HubSpot'],
  ['__hs*', 'HubSpot'],
  ['hsctatracking', 'HubSpot'],
  ['gclid', 'Google Ads'],
  ['gclsrc', 'Google Ads'],
  ['dclid', 'Google Ads'],
  ['gbraid', 'Google Ads'],
  ['wbraid', 'Google Ads'],
  ['gad_source', 'Google Ads'],
  ['gad_campaignid', 'Google Ads'],
  ['srsltid', 'Google Shopping'],
  ['_ga', 'Google Analytics'],
  ['_gl', 'Google Analytics'],
  ['fbclid', 'Facebook'],
  ['fb_action_ids', 'Facebook'],
  ['fb_action_types', 'Facebook'],
  ['igsh', 'Instagram'],
  ['igshid', 'Instagram'],
  ['msclkid', 'Microsoft Advertising'],
  ['twclid', 'X (Twitter)'],
  ['ttclid', 'TikTok'],
  ['li_fat_id', 'LinkedIn'],
  ['epik', 'Pinterest'],
  ['rdt_cid', 'Reddit'],
  ['sccid', 'Snapchat'],
  ['yclid', 'Yandex'],
  ['ysclid', 'Yandex'],
  ['_openstat', 'Yandex'],
  ['mc_cid', 'Mailchimp'],
  ['mc_eid', 'Mailchimp'],
  ['mkt_tok', 'Marketo'],
  ['_kx', 'Klaviyo'],
  ['vero_id', 'Vero'],
  ['vero_conv', 'Vero'],
  ['oly_anon_id', 'Omeda'],
  ['oly_enc_id', 'Omeda'],
  ['ml_subscriber', 'MailerLite'],
  ['ml_subscriber_hash', 'MailerLite'],
  ['s_cid', 'Adobe Analytics'],
  ['irclickid', 'Impact'],
  ['wickedid', 'Wicked Reports'],
  ['_branch_match_id', 'Branch'],
];

/**
 * Takes a URL apart into what names the page and what tracks the visitor. Every other character of the URL
 * stays as it was.
 */
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
  return owners.find(([pattern]) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  )?.[1];
}
