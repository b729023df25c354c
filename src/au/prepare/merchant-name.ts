// Recognizes the name of a column that has the ids of merchants.

const MERCHANT = 'merchants?|händler|haendler|comercio|marchand|commer[çc]ant|esercente';
/** These are also parts of other words, such as restored or middle. */
const SHORT = 'mid|store|shop|outlet';
const OF_IDS = 'id|ids|identifier|no|nr|num|number|nummer|numero|code|key|ref|reference|account|acct|uid|uuid';
const NAME = new RegExp(`(?:${MERCHANT}|(?:^| )(?:sub)?(?:${SHORT}))(?: ?(?:${OF_IDS}))*(?: ?\\d{1,2})?$`, 'u');

/** Tells whether a column name means the id of a merchant: "merchant no" or "store account", but not "merchant city". */
export function isNamedMerchant(name: string): boolean {
  const words = name
    .normalize('NFC')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return NAME.test(words);
}
