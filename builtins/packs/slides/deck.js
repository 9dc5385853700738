(function(){
var slides=[].slice.call(document.querySelectorAll('.slide'));
function here(){var best=0,least=1e9;slides.forEach(function(s,i){var d=Math.abs(s.getBoundingClientRect().top);if(d<least){least=d;best=i}});return best}
function go(i){slides[Math.max(0,Math.min(slides.length-1,i))].scrollIntoView()}
addEventListener('keydown',function(e){
if(e.altKey||e.ctrlKey||e.metaKey)return;
var k=e.key,i=here();
if(k==='ArrowRight'||k==='ArrowDown'||k==='PageDown'||(k===' '&&!e.shiftKey))go(i+1);
else if(k==='ArrowLeft'||k==='ArrowUp'||k==='PageUp'||(k===' '&&e.shiftKey))go(i-1);
else if(k==='Home')go(0);else if(k==='End')go(slides.length-1);
else if(k==='n'){document.body.classList.toggle('with-notes');go(i)}
else if(k==='f'&&document.documentElement.requestFullscreen)document.documentElement.requestFullscreen();
else return;
e.preventDefault()});
function fit(){slides.forEach(function(s){var stage=s.querySelector('.stage'),f=1;stage.style.setProperty('--fit',1);
var limit=Math.min(innerWidth*0.5625,innerHeight)+2;
while(stage.offsetHeight>limit&&f>0.5){f-=0.05;stage.style.setProperty('--fit',f)}})}
addEventListener('resize',fit);
if(document.fonts&&document.fonts.ready)document.fonts.ready.then(fit);else fit();
})();
