/** Words of questions whose answer is a count, a sum, an average, an extreme or a selection of rows. English, German, Chinese. */
const ASKED = [
  /\b(?:how (?:many|much|often)|number of|count|(?:in )?total|sum|overall|average|mean|median)\b/,
  /\b(?:most|least|fewest|highest|lowest|largest|smallest|biggest|greatest|maximum|minimum|max|min|top|bottom)\b/,
  /\b(?:longest|shortest|oldest|youngest|newest|latest|earliest|cheapest|heaviest|lightest)\b/,
  /\b(?:more|less|fewer|greater|higher|lower|larger|smaller|older|newer) than\b|\b(?:at least|at most|above|below|between|over|under) \p{Sc}?\d/u,
  /\b(?:per|for each|by|group(?:ed)?)\b.*\b(?:sum|count|total|average|number)\b/,
  /\b(?:wie ?viele?|anzahl|summe|gesamt\p{L}*|insgesamt|durchschnitt\p{L}*|mittelwert|median|zusammen)(?!\p{L})/u,
  /(?:meisten|wenigsten|höchste|niedrigste|größte|kleinste|älteste|jüngste|neueste|teuerste|billigste|günstigste|längste|kürzeste)/,
  /\b(?:mehr|weniger|größer|kleiner|höher|niedriger|älter|neuer) als\b|\b(?:mindestens|höchstens|über|unter|zwischen) \d/u,
  /多少|几[个条次名行]|[总合]计|总[和共数额]|平均|最[高低大小多少早晚长短贵]|超过|以上|以下|大于|小于/,
];

/** Whether a question can be answered by computing over the rows of a table. */
export function asksToCompute(question: string): boolean {
  const text = question.toLowerCase();
  return ASKED.some((words) => words.test(text));
}
