import type { Language } from '../document.ts';
import { letterDe } from './letter.de.ts';
import { letterEn } from './letter.en.ts';

export type LetterTexts = typeof letterEn;
export const letterTexts: Readonly<Record<Language, LetterTexts>> = { de: letterDe, en: letterEn };
