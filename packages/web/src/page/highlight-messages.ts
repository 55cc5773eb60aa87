/** Messages between the page and the worker that highlights code. Types only. */

export interface HighlightRequest {
  readonly id: number;
  readonly language: string;
  readonly text: string;
}

export interface HighlightAnswer {
  readonly id: number;
  /** Null: the language is unknown. */
  readonly html: string | null;
}
