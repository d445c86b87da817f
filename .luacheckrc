std = 'luajit'
globals = { 'vim' }
-- stylua keeps code within 100 columns; this is for comments and long strings.
max_line_length = 120
-- A callback takes what it is given, used or not.
unused_args = false
-- A union of types cannot be broken into lines.
files['lua/dcode/types.lua'] = { max_line_length = false }
