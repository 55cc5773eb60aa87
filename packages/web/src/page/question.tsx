/** One question to the reader before something is changed; with a field, if a text is wanted. */
import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { Modal } from "./modal.tsx";

interface Question {
  readonly title: string;
  readonly detail: string;
  /** What the button says. */
  readonly action: string;
  /** The text to change; null: only a confirmation is wanted. */
  readonly text: string | null;
  readonly onAnswer: (text: string) => void;
}

const open = signal<Question | null>(null);

export function ask(question: Question): void {
  open.value = question;
}

export function QuestionDialog(): VNode | null {
  const question = open.value;
  if (question === null) return null;
  let text = question.text ?? "";
  const close = (): void => void (open.value = null);
  const answer = (): void => {
    close();
    question.onAnswer(text);
  };
  return (
    <Modal label={question.title} class="question" onClose={close}>
      <h2>{question.title}</h2>
      <p>{question.detail}</p>
      {question.text === null ? null : (
        <input
          aria-label={question.title}
          defaultValue={question.text}
          autoFocus
          onFocus={({ currentTarget }) => currentTarget.select()}
          onInput={({ currentTarget }) => (text = currentTarget.value)}
          onKeyDown={({ key }) => (key === "Enter" ? answer() : undefined)}
        />
      )}
      <div class="buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="primary" onClick={answer}>
          {question.action}
        </button>
      </div>
    </Modal>
  );
}
