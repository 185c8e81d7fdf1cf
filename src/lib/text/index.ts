/**
 * Helpers for output texts: shortening, plural, repeated texts, Markdown escaping, lists of JSON texts, changing all texts of plain
 * data, titles for people. Every module may import it, and it imports none.
 */
export {
  codeSpan,
  countText,
  eachOnce,
  escapeMarkdown,
  joinWords,
  mapTexts,
  oneLine,
  plural,
  pluralWord,
  quoted,
  RawList,
  shorten,
  tableCell,
} from './text.ts';
export {
  isolated,
  MAX_TITLE_LENGTH,
  searchText,
  type Title,
  titleAndKey,
  titleForms,
  titleIn,
  titleMark,
  titleProblem,
} from './title.ts';
