extern int yoke_placeholder; 
