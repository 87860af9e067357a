const HOUR_MINUTE = String.raw`(?:[01]\d|2[0-3]):[0-5]\d`;
const TIME = String.raw`${HOUR_MINUTE}:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-]${HOUR_MINUTE})`;
const LEAP_YEAR = String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)`;
const DAY = String.raw`(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))`;
const DATE = String.raw`(?!0000)(?:\d{4}-${DAY}|${LEAP_YEAR}-02-29)`;
/** Few and short labels, because a grammar counts by unrolling. */
const LABEL = '[A-Za-z0-9]{1,20}(?:-[A-Za-z0-9]{1,20})?';
/** The last label is no number: it would begin an IP address. */
const HOST = String.raw`(?:${LABEL}\.){0,3}[A-Za-z]{2,12}`;
const BYTE = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const GROUP = '[0-9A-Fa-f]{1,4}';
/** As 8 groups, or with :: after the first `n`. */
const IPV6 = [
  `(?:${GROUP}:){7}${GROUP}`,
  ...Array.from({ length: 8 }, (_, n) => {
    const before = n === 0 ? '' : `${GROUP}(?::${GROUP}){${n - 1}}`;
    return `${before}::${n === 7 ? '' : `(?:${GROUP}(?::${GROUP}){0,${6 - n}})?`}`;
  }),
].join('|');
const DAYS = String.raw`\d{1,4}D|\d{1,3}M(?:\d{1,2}D)?|\d{1,4}Y(?:\d{1,2}M(?:\d{1,2}D)?)?`;
const SECONDS = String.raw`\d{1,6}S|\d{1,4}M(?:\d{1,2}S)?|\d{1,4}H(?:\d{1,2}M(?:\d{1,2}S)?)?`;
const CHARACTER = String.raw`[\w.~!$&'()*+,;=:@/-]`;

/** By `format`: a regular expression of what is written for it. Not always all that it allows: short enough for the usual `maxLength`. */
export const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date', DATE],
  ['time', TIME],
  ['date-time', `${DATE}T${TIME}`],
  ['duration', String.raw`P(?:\d{1,3}W|(?=.)(?:${DAYS})?(?:T(?:${SECONDS}))?)`],
  ['uuid', '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}'],
  ['email', String.raw`[\w+-]{1,24}(?:\.[\w+-]{1,24})?@(?:${LABEL}\.){1,3}[A-Za-z]{2,12}`],
  ['hostname', HOST],
  ['ipv4', String.raw`(?:${BYTE}\.){3}${BYTE}`],
  ['ipv6', IPV6],
  [
    'uri',
    String.raw`https?://${HOST}(?::[1-9]\d{1,3})?(?:/${CHARACTER}{0,80})?(?:\?${CHARACTER}{0,40})?(?:#${CHARACTER}{0,16})?`,
  ],
  ['password', String.raw`[\s\S]*`],
  ['binary', String.raw`[\s\S]*`],
  ['path', String.raw`[\s\S]*`],
  ['file-path', String.raw`[\s\S]*`],
  ['directory-path', String.raw`[\s\S]*`],
]);
