// The marks of texts that became more than texts. test_hostile.py evaluates this function.
async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  await frame();
  const all = [...document.querySelectorAll("*")];
  const said = (element) => `${element.tagName.toLowerCase()}.${element.className?.baseVal ?? element.className}`;
  const isSound = (element) =>
    !/^(IMG|IFRAME|OBJECT|EMBED|BASE)$/.test(element.tagName) &&
    (element.tagName !== "SCRIPT" || /^\/ui\/[\w.-]+$/.test(element.getAttribute("src") ?? "")) &&
    ![...element.attributes].some(({ name }) => name.startsWith("on"));
  const isOwn = (link) => link.origin === location.origin || (/^https?:$/.test(link.protocol) && /noopener/.test(link.rel) && /noreferrer/.test(link.rel));
  const HIDDEN = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2069\u{e0000}-\u{e007f}]/u;
  const hidden = [];
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if (HIDDEN.test(texts.currentNode.data)) hidden.push(`${said(texts.currentNode.parentElement)}: ${texts.currentNode.data.slice(0, 80)}`);
  for (const element of all)
    for (const name of ["title", "aria-label", "placeholder"])
      if (HIDDEN.test(element.getAttribute(name) ?? "")) hidden.push(`${said(element)}[${name}]`);
  // Code scrolls sideways, and what is drawn. Nothing else does, and the page itself never.
  const isCode = (element) => element.closest("pre, code, .json, .cm-scroller, textarea, .sql-editor") || element.querySelector(":scope > canvas");
  const isWide = (element) => {
    if (element.scrollWidth <= element.clientWidth + 1 || element.clientWidth === 0) return false;
    return element === document.documentElement || /auto|scroll/.test(getComputedStyle(element).overflowX);
  };
  const wide = innerWidth < 400 ? all.filter((element) => isWide(element) && !isCode(element) && element.tagName !== "INPUT") : [];
  // Of each text in a table something is seen, and an ellipsis ends one that is cut.
  const isClipping = (element) => /hidden|clip/.test(getComputedStyle(element).overflowX);
  const isLost = (text, cell) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const { right } = range.getBoundingClientRect();
    let block = text.parentElement;
    while (getComputedStyle(block).display === "inline") block = block.parentElement;
    let end = right;
    for (let one = text.parentElement; cell.contains(one); one = one.parentElement) if (isClipping(one)) end = Math.min(end, one.getBoundingClientRect().right);
    if (end >= right - 1) return false;
    const { display, textOverflow } = getComputedStyle(block);
    const hasEllipsis = isClipping(block) && textOverflow === "ellipsis" && !display.includes("flex");
    return !hasEllipsis || end - block.getBoundingClientRect().left < 16;
  };
  const lost = [];
  const quoted = (text) => `${said(text.parentElement)}: ${text.data.slice(0, 40)}`;
  for (const cell of document.querySelectorAll("td")) {
    const inCell = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (inCell.nextNode()) {
      const text = inCell.currentNode;
      if (text.data.trim() && !text.parentElement.closest(".visually-hidden") && isLost(text, cell)) lost.push(quoted(text));
    }
  }
  return {
    executed: "executed" in window,
    elements: all.filter((element) => !isSound(element)).map(said),
    links: [...document.links].filter((link) => !isOwn(link)).map((link) => link.href),
    hidden,
    lost,
    wide: wide.map((element) => `${said(element)} ${element.scrollWidth} > ${element.clientWidth}`),
  };
}
