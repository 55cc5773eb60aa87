/** A modal dialog, which keeps the focus, and closes on Escape and on a click beside it. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ComponentChildren, VNode } from "preact";

interface ModalProps {
  readonly label: string;
  readonly class?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Modal({ label, class: name = "", onClose, children }: ModalProps): VNode {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => element.current?.showModal(), []);
  return (
    <dialog
      ref={element}
      class={`modal ${name}`}
      aria-label={label}
      onClose={onClose}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // The browser closes later: the next key would still be typed into the dialog.
        event.preventDefault();
        onClose();
      }}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget) onClose();
      }}
    >
      <div class="modal-body">{children}</div>
    </dialog>
  );
}
