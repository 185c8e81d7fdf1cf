import { pageDe } from './page.de.ts';
import { pageEn } from './page.en.ts';

export type PageTexts = typeof pageEn;
export type PageLanguage = 'de' | 'en';

export function pageTextsOf(language: PageLanguage): PageTexts {
  return language === 'de' ? pageDe : pageEn;
}
