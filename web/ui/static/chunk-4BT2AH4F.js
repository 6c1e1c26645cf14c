function e(){return document.querySelector("meta[name=wp-mail]")?.content!=="log"}export{e as a};
