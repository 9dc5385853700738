// What can be seen of a composition at the instant it shows: texts with their boxes, sizes and colours, and characters
// no font has. An expression; its value goes to the lint rules.
(() => {
  "use strict";
  const width = innerWidth, height = innerHeight;
  const visible = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.display === "none" || parseFloat(style.opacity) < 0.1) return false;
    }
    return getComputedStyle(element).visibility === "visible";
  };
  const name = (element) => {
    const kind = element.tagName.toLowerCase();
    const id = element.id ? `#${element.id}` : "";
    const classes = [...element.classList].slice(0, 2).map((c) => `.${c}`).join("");
    return `${kind}${id}${classes}`;
  };
  const parse = (text) => {
    const found = text.match(/[\d.]+/g);
    return found ? [+found[0], +found[1], +found[2], found.length > 3 ? +found[3] : 1] : null;
  };
  const over = (top, bottom) => top.slice(0, 3).map((value, i) => value * top[3] + bottom[i] * (1 - top[3]));
  // Every colour the text may stand on: plain backgrounds and the stops of gradients, laid over each other.
  const grounds = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.backgroundImage.includes("url(")) return null; // a picture: unknown
      const stops = style.backgroundImage.match(/rgba?\([^)]*\)/g);
      const plain = parse(style.backgroundColor);
      if (stops) layers.push(stops.map(parse));
      if (plain && plain[3] > 0) layers.push([plain]);
      if (layers.length && layers[layers.length - 1].every((colour) => colour[3] === 1)) break;
    }
    let colours = [[255, 255, 255]];
    for (const layer of layers.reverse()) {
      colours = layer.flatMap((colour) => colours.map((below) => over(colour, below))).slice(0, 16);
    }
    return colours;
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const characters = new Set();
  let count = 0;
  const blocks = new Map();
  for (let node = walker.nextNode(); node && count < 5000; node = walker.nextNode()) {
    count += 1;
    const text = node.data.trim();
    const element = node.parentElement;
    if (!text || !element || /^(script|style|noscript|title)$/i.test(element.tagName)) continue;
    for (const character of text) if (character.codePointAt(0) > 0x24f && characters.size < 400) characters.add(character);
    if (!visible(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((r) => r.width > 0.5 && r.height > 0.5);
    if (!rects.length) continue;
    // Words of one heading belong together.
    let block = element;
    while (block.parentElement && getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
    const style = getComputedStyle(element);
    const scale = rects[0].height / (element.getBoundingClientRect().height || rects[0].height);
    const known = blocks.get(block);
    const box = [
      Math.min(...rects.map((r) => r.left)), Math.min(...rects.map((r) => r.top)),
      Math.max(...rects.map((r) => r.right)), Math.max(...rects.map((r) => r.bottom)),
    ];
    if (known) {
      known.box = [Math.min(known.box[0], box[0]), Math.min(known.box[1], box[1]), Math.max(known.box[2], box[2]), Math.max(known.box[3], box[3])];
      known.text = `${known.text} ${text}`.slice(0, 80);
      known.size = Math.min(known.size, parseFloat(style.fontSize));
      continue;
    }
    let clipped = false;
    for (let e = block; e && e !== document.body; e = e.parentElement) {
      const s = getComputedStyle(e);
      if (s.overflow !== "visible" && s.textOverflow !== "ellipsis" && !e.hasAttribute("data-start")) {
        const r = e.getBoundingClientRect();
        if (box[0] < r.left - 1 || box[1] < r.top - 1 || box[2] > r.right + 1 || box[3] > r.bottom + 1) clipped = true;
      }
    }
    if (getComputedStyle(block).textOverflow === "ellipsis") {
      const r = block.getBoundingClientRect();
      box[2] = Math.min(box[2], r.right);
    }
    const entry = {
      element: name(block), text: text.slice(0, 80), box, clipped, size: parseFloat(style.fontSize),
      bold: parseInt(style.fontWeight) >= 600, colour: parse(style.color), grounds: grounds(element), scale,
    };
    blocks.set(block, entry);
    texts.push(entry);
  }
  // A character no font has is drawn as the same box as one that does not exist.
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 40;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const family = getComputedStyle(document.body).fontFamily;
  const drawn = (character) => {
    pen.clearRect(0, 0, 40, 40);
    pen.font = `24px ${family}`;
    pen.textBaseline = "middle";
    pen.fillText(character, 4, 20);
    return pen.getImageData(0, 0, 40, 40).data.join();
  };
  const none = new Set(["\u{10ffff}", "\u{e0fff}", "\u0378"].map(drawn));
  const missing = [...characters].filter((c) => !/[\s\p{M}\p{Cf}\p{Zs}\ufe0f]/u.test(c) && none.has(drawn(c)));
  return { width, height, texts, missing: missing.slice(0, 60) };
})()
